"""torch.utils.data datasets: plain Python objects with __getitem__ and __len__, or __iter__."""

import bisect
import itertools
import math

import numpy as np

from migrate.emit.helpers.data_generator import draws_of
from migrate.emit.helpers.helper_origin import uses


class Dataset:
    """Base of datasets that give a sample for an index."""

    if uses("data with types"):

        def __class_getitem__(cls, kind):
            """`Dataset[int]` is for readers and type checkers."""
            return cls

    def __getitem__(self, index):
        raise NotImplementedError

    if uses("sums of datasets"):

        def __add__(self, other):
            return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Base of datasets that can only be read from front to back."""

    if uses("sums of datasets"):

        def __add__(self, other):
            return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Row i of each tensor is sample i."""

    def __init__(self, *tensors):
        assert len({tensor.shape[0] for tensor in tensors}) == 1, "Size mismatch between tensors"
        self.tensors = tensors

    def __getitem__(self, index):
        index = int(index) if isinstance(index, np.integer) else index  # as folds are cut by numpy
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].shape[0]


class StackDataset(Dataset):
    """Sample i of each dataset, as a tuple or a dict."""

    def __init__(self, *args, **kwargs):
        self.datasets = kwargs or args
        if len({len(one) for one in (*args, *kwargs.values())}) != 1:
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self):
        first = next(
            iter(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)
        )
        return len(first)


class Subset(Dataset):
    """The samples of a dataset at the given indices."""

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[one] for one in index]]
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    """Several datasets one after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        self.cumulative_sizes = list(itertools.accumulate(len(one) for one in self.datasets))

    def __getitem__(self, index):
        if index < 0:
            index += len(self)
            if index < 0:
                raise ValueError("absolute value of index should not exceed dataset length")
        number = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[number - 1] if number else 0
        return self.datasets[number][index - before]

    def __len__(self):
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset):
    """Several iterable datasets one after the other."""

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self):
        return sum(len(one) for one in self.datasets)


def random_split(dataset, lengths, generator=None):
    """Random disjoint subsets of the given lengths, or shares that add up to one."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        shares = lengths
        lengths = [math.floor(len(dataset) * share) for share in shares]
        for place in range(len(dataset) - sum(lengths)):
            lengths[place % len(lengths)] += 1
    if sum(lengths) != len(dataset):
        raise ValueError(f"lengths add up to {sum(lengths)}, the dataset has {len(dataset)}")
    order = draws_of(generator).permutation(len(dataset)).tolist()
    ends = itertools.accumulate(lengths)
    return [
        Subset(dataset, order[end - size : end]) for end, size in zip(ends, lengths, strict=True)
    ]
