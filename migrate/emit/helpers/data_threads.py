"""torch.utils.data.DataLoader before MindSpore 2.10, which brought one of its own: workers are
threads that make whole batches, in order.
"""

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import mindspore
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor

from migrate.emit.helpers.data_samplers import BatchSampler, RandomSampler, SequentialSampler
from migrate.emit.helpers.data_sets import IterableDataset


def stacked_tensors(batch):
    """torch's default_collate: Tensors."""
    stacked = stacked_arrays(batch)
    return rebuilt(stacked, map(as_tensor_or_list, flat_leaves(stacked)))


def stacked_arrays(batch):
    """Stack samples into one array per field; tuples, lists and dicts keep their form."""
    first = batch[0]
    if isinstance(first, dict):
        return {key: stacked_arrays([sample[key] for sample in batch]) for key in first}
    if isinstance(first, (tuple, list)):
        return [stacked_arrays(list(field)) for field in zip(*batch, strict=True)]
    return np.stack([as_array(sample) for sample in batch])


def as_array(value):
    """A Tensor, number or image as a numpy array."""
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


def flat_leaves(batch):
    """The values in a batch, one after the other."""
    if isinstance(batch, dict):
        return [leaf for value in batch.values() for leaf in flat_leaves(value)]
    if isinstance(batch, (tuple, list)):
        return [leaf for value in batch for leaf in flat_leaves(value)]
    return [batch]


def rebuilt(form, leaves):
    """A batch of the given form, its values taken from an iterator."""
    if isinstance(form, dict):
        return {key: rebuilt(value, leaves) for key, value in form.items()}
    if type(form) is tuple:
        return tuple(rebuilt(value, leaves) for value in form)
    if isinstance(form, (tuple, list)):
        return [rebuilt(value, leaves) for value in form]
    return next(leaves)


def as_tensor_or_list(leaf):
    """Arrays become Tensors, arrays of text become lists, all else stays."""
    if not isinstance(leaf, np.ndarray):
        return leaf
    return leaf.tolist() if leaf.dtype.kind in "SU" else Tensor(leaf)


class Batches:
    """What mindspore.dataset reads: item i is batch i as a flat tuple of arrays."""

    def __init__(self, load, indices):
        self.load = load
        self.indices = indices
        self.first = load(indices[0])  # asked for its columns: a random sample is drawn once

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, number):
        batch = self.load(self.indices[int(number)]) if number else self.first
        return tuple(as_array(leaf) for leaf in flat_leaves(batch))


class ThreadedDataLoader:
    """A dataset in batches of Tensors. Workers are threads: forking after an operator may hang."""

    def __class_getitem__(cls, kind):
        """`DataLoader[int]` is for readers and type checkers."""
        return cls

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.workers = min(max(num_workers, 1), os.cpu_count())
        self.iterable = isinstance(dataset, IterableDataset)
        if sampler is None and not self.iterable:
            sampler = SequentialSampler(dataset)
            if shuffle:
                sampler = RandomSampler(dataset, generator=generator)
        if batch_sampler is None and batch_size is not None and not self.iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn

    def __len__(self):
        if not self.iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        if self.batch_size is None:
            return len(self.dataset)
        full, rest = divmod(len(self.dataset), self.batch_size)
        return full + (rest > 0 and not self.drop_last)

    def __iter__(self):
        collate = self.collate_fn
        if collate is None:
            collate = unchanged if self.batch_size is None else stacked_arrays
        for batch in self._batches(collate):
            yield rebuilt(batch, map(as_tensor_or_list, flat_leaves(batch)))

    def _batches(self, collate):
        """In turn without workers, as torch does; else ahead of the program that reads them."""
        if self.iterable:
            return self._streamed(collate)

        def load(chosen):
            if isinstance(chosen, (list, tuple)):
                return collate([self.dataset[index] for index in chosen])
            return collate(self.dataset[chosen])

        sink = bool(os.environ.get("MS_MIGRATE_DATASET_SINK"))
        order = self.sampler if self.batch_sampler is None else self.batch_sampler
        if self.num_workers == 0 and not sink:
            return map(load, order)
        if self.collate_fn is None and _is_finite(order):
            return self._piped(load, list(order))
        return self._threaded(load, order)

    def _piped(self, load, order):
        """Through mindspore.dataset, which wants to know the number of columns first."""
        if len(order) == 0:
            return
        source = Batches(load, order)
        form = source.first
        pipe = ds.GeneratorDataset(
            source,
            column_names=[f"column_{number}" for number in range(len(flat_leaves(form)))],
            shuffle=False,
            num_parallel_workers=self.workers,
            python_multiprocessing=False,
        )
        if os.environ.get("MS_MIGRATE_DATASET_SINK"):
            # The device's own queue is filled ahead of the steps that empty it.
            fetch = mindspore.data_sink(columns, pipe)
            for _ in range(len(source)):
                yield rebuilt(form, iter(fetch()))
            return
        for leaves in pipe.create_tuple_iterator(num_epochs=1, output_numpy=True):
            yield rebuilt(form, iter(leaves))

    def _threaded(self, load, order):
        """A collate_fn may return anything, and a sampler may never end."""
        with ThreadPoolExecutor(self.workers) as pool:
            waiting = deque()
            for chosen in order:
                waiting.append(pool.submit(load, chosen))
                if len(waiting) > 2 * self.workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _streamed(self, collate):
        """An IterableDataset is read in the main thread."""
        if self.batch_size is None:
            yield from (collate(sample) for sample in self.dataset)
            return
        samples = []
        for sample in self.dataset:
            samples.append(sample)
            if len(samples) == self.batch_size:
                yield collate(samples)
                samples = []
        if samples and not self.drop_last:
            yield collate(samples)


def _is_finite(order):
    """Whether a sampler says that it ends, and soon enough for a list."""
    try:
        return len(order) < 100_000_000
    except (AttributeError, NotImplementedError, TypeError):
        return False


def columns(*values):
    """All columns of a batch as they are."""
    return values


def unchanged(sample):
    """batch_size=None: every sample is a batch of its own."""
    return sample
