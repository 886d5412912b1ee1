"""Groups of parameters chosen by words of their names, layers by classes kept in a variable."""

# ruff: noqa - in the style of their authors

import torch
import torch.nn as nn
from shared import fill, toy


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 8)
        self.dense = nn.Linear(8, 8)
        self.LayerNorm = nn.LayerNorm(8)
        self.bn = nn.BatchNorm1d(8)
        self.gamma = nn.Parameter(torch.ones(8))
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        h = self.LayerNorm(torch.relu(self.dense(self.emb(x).mean(1)))) * self.gamma
        return self.out(self.bn(h))


x = (torch.arange(16 * 5) * 7 % 10).view(16, 5)
y = torch.arange(16) % 4
model = fill(Net())
for name, p in model.named_parameters():
    print(name.endswith("weight"), "bias" in name, name.split(".")[-1] == "weight", "gamma" in name)
no_decay = ["bias", "LayerNorm.weight"]
groups = [
    {
        "params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)],
        "weight_decay": 0.5,
    },
    {
        "params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)],
        "weight_decay": 0.0,
    },
]
print([len(g["params"]) for g in groups])
optimizer = torch.optim.AdamW(groups, lr=0.05)
KINDS = (nn.Linear, nn.Embedding)
print(sum(isinstance(m, KINDS) for m in model.modules()))
start = {n: p.detach().clone() for n, p in model.named_parameters()}
for step in range(5):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("%.5f" % loss.item())
for n, p in model.named_parameters():
    if "bn" in n:
        print((p - start[n]).abs().sum().item())
own = model.state_dict()
print(all(n in own for n, _ in model.named_parameters()))
