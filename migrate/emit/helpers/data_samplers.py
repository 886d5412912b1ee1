"""torch.utils.data samplers: iterables of indices, repeatable with mindspore.set_seed."""

import math

import numpy as np

from migrate.emit.helpers.data_generator import draws_of
from migrate.emit.helpers.helper_origin import uses


class Sampler:
    """Base of classes that give the indices of one epoch."""

    if uses("data with types"):

        def __class_getitem__(cls, kind):
            """`Sampler[int]` is for readers and type checkers."""
            return cls

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """All indices in order."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """All indices in random order, or num_samples of them."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self.given = num_samples
        self.generator = generator
        if self.num_samples <= 0:
            raise ValueError(
                "num_samples should be a positive integer value, "
                f"but got num_samples={self.num_samples}"
            )

    @property
    def num_samples(self):
        """Asked of the dataset in every epoch: it may have grown."""
        return len(self.data_source) if self.given is None else self.given

    def __iter__(self):
        size, draws = len(self.data_source), draws_of(self.generator)
        if self.replacement:
            return iter(draws.randint(0, size, self.num_samples).tolist())
        rounds = math.ceil(self.num_samples / size)
        order = np.concatenate([draws.permutation(size) for _ in range(rounds)])
        return iter(order[: self.num_samples].tolist())

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        order = draws_of(self.generator).permutation(len(self.indices))
        return iter([self.indices[place] for place in order])

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """num_samples indices, each with a probability in proportion to its weight."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        self.weights = np.asarray(weights, np.float64)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        share = self.weights / self.weights.sum()
        draws = draws_of(self.generator)
        chosen = draws.choice(len(share), self.num_samples, replace=self.replacement, p=share)
        return iter(chosen.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Groups the indices of another sampler into lists of batch_size."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        batch = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self):
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full + (rest > 0 and not self.drop_last)
