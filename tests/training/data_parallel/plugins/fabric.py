"""An accelerator: precision and gradients behind methods of its own, called by a trainer."""

import contextlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Precision:
    def forward_context(self):
        return contextlib.nullcontext()

    def backward(self, loss):
        loss.backward()

    def unscale(self, optimizer):
        pass

    def optimizer_step(self, optimizer):
        optimizer.step()


class MixedPrecision(Precision):
    def __init__(self, device):
        self.device = device
        self.scaler = torch.amp.GradScaler(device, init_scale=512.0, growth_interval=4)

    def forward_context(self):
        return torch.autocast(self.device, dtype=torch.float16)

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def unscale(self, optimizer):
        self.scaler.unscale_(optimizer)

    def optimizer_step(self, optimizer):
        self.scaler.step(optimizer)
        self.scaler.update()


PRECISIONS = {"16-mixed": lambda: MixedPrecision("cpu"), "32": Precision}


class Fabric:
    def __init__(self, precision):
        self.precision = PRECISIONS[precision]()

    def setup(self, module, optimizer):
        return DistributedDataParallel(module), optimizer

    def autocast(self):
        return self.precision.forward_context()

    def no_sync(self, module, enabled):
        return module.no_sync() if enabled else contextlib.nullcontext()

    def backward(self, loss):
        self.precision.backward(loss)

    def clip_gradients(self, module, optimizer, max_norm):
        self.precision.unscale(optimizer)
        return torch.nn.utils.clip_grad_norm_(module.parameters(), max_norm)

    def step(self, optimizer):
        self.precision.optimizer_step(optimizer)

    def mean(self, tensor):
        tensor = tensor.clone()
        dist.all_reduce(tensor)
        return (tensor / dist.get_world_size()).item()
