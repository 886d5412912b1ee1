"""The processes of a run, as the launcher started them."""

import os

import torch
from torch import distributed as dist


class Processes:
    def __init__(self, device: str):
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))
        self.local_rank = int(os.environ.get("LOCAL_RANK", "0"))
        if device.startswith("cuda"):
            torch.cuda.set_device(self.local_rank)
            self.device = torch.device("cuda", self.local_rank)
        else:
            self.device = torch.device(device)
        if self.size > 1:
            backend = "nccl" if self.device.type == "cuda" else "gloo"
            dist.init_process_group(backend)

    @property
    def first(self) -> bool:
        return self.rank == 0

    def add_up(self, values: torch.Tensor) -> None:
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(values, op=dist.ReduceOp.SUM)

    def leave(self) -> None:
        if dist.is_initialized():
            dist.barrier()
            dist.destroy_process_group()
