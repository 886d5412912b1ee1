"""Mixed precision as timm has it: an object scales, unscales, clips and steps; an EMA beside."""

import sys
from copy import deepcopy

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as NativeDDP


class NativeScaler:
    state_dict_key = "amp_scaler"

    def __init__(self):
        self._scaler = torch.amp.GradScaler("cuda", enabled=torch.cuda.is_available())

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        if clip_grad is not None:
            self._scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
        self._scaler.step(optimizer)
        self._scaler.update()

    def state_dict(self):
        return self._scaler.state_dict()


class ModelEma:
    def __init__(self, model, decay=0.9):
        self.module = deepcopy(model)
        self.module.eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for ema_v, model_v in zip(self.module.parameters(), model.parameters(), strict=True):
            ema_v.copy_(self.decay * ema_v + (1.0 - self.decay) * model_v)


def main(out):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    rng = np.random.default_rng(rank)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32")))
    model = NativeDDP(model)
    ema = ModelEma(model.module)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scaler = NativeScaler()
    losses = []
    for _ in range(4):
        x = torch.from_numpy(rng.standard_normal((4, 6)).astype("float32"))
        y = torch.from_numpy(rng.integers(0, 3, 4))
        output = model(x)
        loss = nn.functional.cross_entropy(output, y)
        optimizer.zero_grad()
        scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
        ema.update(model.module)
        losses.append(loss.item())
    weights = [p.detach().numpy() for p in model.parameters()]
    weights += [p.detach().numpy() for p in ema.module.parameters()]
    np.savez(f"{out}/rank{rank}.npz", *weights, losses=losses)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
