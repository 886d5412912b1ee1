"""torch.utils.data.DataLoader: MindSpore's own, whose random numbers follow mindspore.set_seed."""

import copy
from collections.abc import MutableMapping

import mindspore
import numpy as np
from mindspore import Tensor, _c_dataengine
from mindspore.dataset import dataloader

from migrate.emit.helpers.data_generator import draws_of
from migrate.emit.helpers.data_samplers import RandomSampler
from migrate.emit.helpers.data_sets import IterableDataset
from migrate.emit.helpers.helper_origin import uses


def default_collate(batch):
    """MindSpore's, which would take numpy's float64 for float32 and its int32 for int64, and which
    copies a batch of Tensors twice.
    """
    if batch and all(type(one) is tuple and len(one) == len(batch[0]) for one in batch):
        return [_column(values) for values in zip(*batch, strict=True)]
    return _column(batch)


def _column(values):
    """What all samples of a batch have at one place."""
    if all(isinstance(value, Tensor) and value.dtype == mindspore.float32 for value in values):
        return Tensor.from_numpy(np.stack([value.asnumpy() for value in values]))
    arrays = [_with_arrays(value) for value in values]
    return dataloader.default_collate(tuple(arrays) if isinstance(values, tuple) else arrays)


def default_convert(data):
    """MindSpore's, for numpy's scalars, too."""
    return dataloader.default_convert(_with_arrays(data))


def _with_arrays(sample):
    """A sample with numpy's scalars as arrays without dimensions, which keep their dtype."""
    if isinstance(sample, (np.number, np.bool_)):
        return np.asarray(sample)
    if isinstance(sample, MutableMapping):
        changed = copy.copy(sample)
        changed.update({key: _with_arrays(value) for key, value in sample.items()})
        return changed
    if isinstance(sample, (tuple, list)):
        fields = [_with_arrays(value) for value in sample]
        kind = type(sample)
        return kind(*fields) if hasattr(sample, "_fields") else kind(fields)
    return sample


class _Stream(dataloader.IterableDataset):
    """A dataset that is read from front to back, begun where it is read: in a worker, if there are
    any. MindSpore's loader begins in the main process, too, where no worker could be told apart.
    """

    def __init__(self, dataset):
        self.__dict__["dataset"] = dataset

    def __iter__(self):
        yield from self.dataset

    def __len__(self):
        return len(self.dataset)

    def __getattr__(self, name):
        return getattr(self.__dict__["dataset"], name)

    def __setattr__(self, name, value):
        setattr(self.dataset, name, value)

    def __reduce__(self):
        return _Stream, (self.dataset,)


class DataLoader(dataloader.DataLoader):
    """MindSpore's loader and its worker processes; the order of samples and the seeds of workers
    are drawn when an epoch begins, so that a seed set before counts, as torch's does.
    """

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        *args,
        generator=None,
        pin_memory_device="",
        **options,
    ):
        streamed = isinstance(dataset, IterableDataset)
        order = None if shuffle is None else bool(shuffle), sampler, batch_sampler
        drawn = sampler is None and batch_sampler is None
        if uses("loaders that shuffle") and shuffle and not streamed and drawn:
            if uses("random streams of the program's own"):
                chosen = RandomSampler(dataset, generator=generator)
            elif not len(dataset):
                raise ValueError("num_samples should be a positive integer value, but got 0")
            else:
                chosen = dataloader.RandomSampler(dataset)  # draws its seed from numpy's stream
            order = None, chosen, None
        if collate_fn is None:
            alone = batch_size is None and batch_sampler is None
            collate_fn = default_convert if alone else default_collate
        dataset = _Stream(dataset) if streamed else dataset
        super().__init__(dataset, batch_size, *order, num_workers, collate_fn, *args, **options)
        if uses("random streams of the program's own"):
            self.drawn_from = generator

    def __iter__(self):
        if not self.num_workers:
            return super().__iter__()
        own = uses("random streams of the program's own")
        seed = draws_of(self.drawn_from).randint(2**31) if own else np.random.randint(2**31)
        self.generator = np.random.default_rng(seed)
        batches = super().__iter__()
        # Else the end of a worker ends the program once a pipeline of mindspore.dataset ran: its
        # watch finds the worker gone. The loader itself looks whether its workers live.
        _c_dataengine.deregister_worker_pids(id(batches))
        return batches

    if uses("samplers that are replaced"):

        @property
        def index_sampler(self):
            """Looked up in every epoch: programs put samplers of their own in place."""
            return self.batch_sampler if self.auto_collation else self.sampler

        @index_sampler.setter
        def index_sampler(self, chosen):
            pass
