"""Every image several times an epoch, each time for another process."""

import math

import torch
import torch.distributed as dist


class RepeatedSampler(torch.utils.data.Sampler):
    def __init__(self, dataset, shuffle=True, seed=0, repetitions=3):
        if not dist.is_available():
            raise RuntimeError("needs torch.distributed")
        self.dataset = dataset
        self.processes = dist.get_world_size()
        self.rank = dist.get_rank()
        self.shuffle = shuffle
        self.seed = seed
        self.repetitions = repetitions
        self.epoch = 0
        self.each = int(math.ceil(len(dataset) * float(repetitions) / self.processes))
        self.kept = int(math.floor(len(dataset) // 4 * 4 / self.processes))

    def __iter__(self):
        if self.shuffle:
            g = torch.Generator()
            g.manual_seed(self.seed + self.epoch)
            order = torch.randperm(len(self.dataset), generator=g).tolist()
        else:
            order = list(range(len(self.dataset)))
        order = [index for index in order for _ in range(self.repetitions)]
        order += order[: self.each * self.processes - len(order)]
        own = order[self.rank :: self.processes]
        assert len(own) == self.each
        return iter(own[: self.kept])

    def __len__(self):
        return self.kept

    def set_epoch(self, epoch):
        self.epoch = epoch
