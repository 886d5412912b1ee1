"""Parameters chosen by torch's names: groups without decay, state dicts that are filtered."""

import torch
from shared import fill
from torch import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 6)
        self.LayerNorm = nn.LayerNorm(6)
        self.norm = nn.BatchNorm1d(6)
        self.act = nn.PReLU()
        self.gamma = nn.Parameter(torch.ones(6))  # of the program's own: no norm's
        self.head = nn.Linear(6, 4)

    def forward(self, index):
        return self.head(self.act(self.LayerNorm(self.norm(self.words(index)))) * self.gamma)


net = fill(Net())
no_decay = ["bias", "LayerNorm.weight"]
chosen = {name for name, _ in net.named_parameters() if any(word in name for word in no_decay)}
groups = [
    {"params": [p for n, p in net.named_parameters() if n not in chosen], "weight_decay": 0.9},
    {"params": [p for n, p in net.named_parameters() if n in chosen], "weight_decay": 0.0},
]
print(len(chosen), [len(group["params"]) for group in groups])
optimizer = optim.AdamW(groups, lr=0.05)
index, target = torch.arange(8), torch.arange(8) % 4
for _ in range(4):
    loss = nn.functional.cross_entropy(net(index), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")

held = dict(net.named_parameters())
print(f"{held['norm.weight'].sum().item():.5f} {held['words.weight'].sum().item():.5f}")
state = net.state_dict()
print(f"{state['norm.running_mean'].sum().item():.5f} {state['act.weight'].item():.5f}")
other = Net()
known = {k: v for k, v in state.items() if k in other.state_dict() and not k.startswith("head.")}
left, _ = other.load_state_dict(known, strict=False)
print(len([name for name in left if not name.endswith("num_batches_tracked")]))
print(f"{dict(other.named_buffers())['norm.running_var'].sum().item():.5f}")
print(sum("weight" in name for name, _ in other.named_parameters()))
print([int(name.endswith("gamma")) for name, _ in net.named_parameters()])
print(int(all(name in state for name, _ in net.named_parameters())))
