"""torch's DistributedSampler: every process gets its own share of the indices."""

import math

import numpy as np

from migrate.emit.helpers.data_samplers import Sampler
from migrate.emit.helpers.train_distributed import get_rank, get_world_size


class DistributedSampler(Sampler):
    """The indices of this rank: filled up (or cut) so that all ranks have equally many."""

    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False
    ):
        self.dataset = dataset
        self.num_replicas = get_world_size() if num_replicas is None else num_replicas
        self.rank = get_rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"Invalid rank {self.rank}, rank should be in the interval "
                f"[0, {self.num_replicas - 1}]"
            )
        self.shuffle, self.seed, self.epoch = shuffle, seed, 0
        self.drop_last = drop_last
        share = len(dataset) / self.num_replicas
        self.num_samples = math.floor(share) if drop_last else math.ceil(share)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self):
        indices = list(range(len(self.dataset)))
        if self.shuffle:
            # Seeded by the epoch alone: every rank must draw the same order.
            indices = (
                np.random.default_rng(self.seed + self.epoch).permutation(len(indices)).tolist()
            )
        while len(indices) < self.total_size:
            indices += indices[: self.total_size - len(indices)]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        self.epoch = epoch
