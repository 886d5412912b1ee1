"""A language model's script: accumulation by micro-steps, of which the last one synchronises."""

import os
import sys

import numpy as np
import torch
from torch import nn
from torch.distributed import barrier, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP

ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    init_process_group(backend="gloo")
    ddp_rank = int(os.environ["RANK"])
    ddp_world_size = int(os.environ["WORLD_SIZE"])
    master_process = ddp_rank == 0
else:
    master_process, ddp_world_size, ddp_rank = True, 1, 0

gradient_accumulation_steps = 4
assert gradient_accumulation_steps % ddp_world_size == 0
gradient_accumulation_steps //= ddp_world_size
rng = np.random.default_rng(1337 + ddp_rank)


class LanguageModel(nn.Module):
    def __init__(self, vocabulary=9, width=8):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.ln = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx, targets=None):
        logits = self.lm_head(self.ln(self.wte(idx)))
        loss = None
        if targets is not None:
            flat = logits.view(-1, logits.size(-1))
            loss = nn.functional.cross_entropy(flat, targets.view(-1), ignore_index=-1)
        return logits, loss

    def configure_optimizers(self, lr):
        params = {pn: p for pn, p in self.named_parameters() if p.requires_grad}
        decay = [p for p in params.values() if p.dim() >= 2]
        rest = [p for p in params.values() if p.dim() < 2]
        groups = [
            {"params": decay, "weight_decay": 0.1},
            {"params": rest, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95))


def get_batch():
    ix = rng.integers(0, 9, (2, 6))
    return torch.from_numpy(ix[:, :-1].copy()), torch.from_numpy(ix[:, 1:].copy())


model = LanguageModel()
weights = np.random.default_rng(40 + ddp_rank)
with torch.no_grad():
    for p in model.parameters():
        p.copy_(torch.from_numpy(weights.standard_normal(tuple(p.shape)).astype("float32")))
optimizer = model.configure_optimizers(1e-2)
scaler = torch.amp.GradScaler("cuda", enabled=False)
if ddp:
    model = DDP(model)
raw_model = model.module if ddp else model
X, Y = get_batch()
losses = []
for iter_num in range(4):
    for param_group in optimizer.param_groups:
        param_group["lr"] = 0.01 * min(1, (iter_num + 1) / 3)
    for micro_step in range(gradient_accumulation_steps):
        if ddp:
            model.require_backward_grad_sync = micro_step == gradient_accumulation_steps - 1
        logits, loss = model(X, Y)
        loss = loss / gradient_accumulation_steps
        X, Y = get_batch()
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    losses.append(loss.item() * gradient_accumulation_steps)
out = sys.argv[1]
if master_process:
    torch.save({"model": raw_model.state_dict(), "iter_num": iter_num}, f"{out}/ckpt.pt")
final = [p.detach().numpy() for p in raw_model.parameters()]
np.savez(f"{out}/rank{ddp_rank}.npz", *final, losses=np.array(losses))
if ddp:
    barrier()
