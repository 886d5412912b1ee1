"""Loaders over pipelines of mindspore.dataset, with what programs ask of torch's DataLoader."""

import copy
import os
import random

import mindspore
import mindspore.dataset as ds
import numpy as np

from migrate.emit.helpers.data_generator import draws_of
from migrate.emit.helpers.data_samplers import RandomSampler, SequentialSampler


def pipeline_threads(num_workers):
    """Threads for a stage of a pipeline: MindSpore takes one at least, and one a core at most."""
    return min(max(int(num_workers), 1), os.cpu_count() or 1)


class EpochOrder:
    """The samples of an epoch as a sampler of the program orders them, drawn when it begins.

    A pipeline copies its sampler for every epoch: one that draws from a generator of its own would
    give the same order again.
    """

    def __init__(self, dataset, sampler=None, shuffle=False, generator=None):
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if sampler is None:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        self.dataset, self.sampler, self.generator = dataset, sampler, generator
        self.indices = []

    def draw(self):
        self.indices = [int(index) for index in self.sampler]

    def __iter__(self):
        return iter(self.indices)

    def __deepcopy__(self, memo):
        """For one epoch: it keeps its indices when the next one is drawn meanwhile."""
        return copy.copy(self)


class PipelineLoader:
    """Batches of a pipeline, a new order and new augmentation every epoch.

    MindSpore's own iterators repeat both in every epoch once a seed is set.
    """

    def __init__(self, pipeline, num_workers=0):
        self.pipeline, self.num_workers = pipeline, num_workers
        source = pipeline
        while source.children:
            source = source.children[0]
        self._order = source.sampler.sampler
        self.dataset, self.sampler = self._order.dataset, self._order.sampler
        self.batch_size, self.drop_last = pipeline.batch_size, pipeline.drop_remainder
        if isinstance(source, ds.ImageFolderDataset):
            self._check(ds.ImageFolderDataset(source.dataset_dir, shuffle=False))

    def _check(self, files):
        """torchvision leaves out files by their names, MindSpore takes all."""
        listed = files.get_dataset_size()
        if listed != len(self.dataset):
            raise ValueError(
                f"{self.dataset.root} has {len(self.dataset)} images in folders of classes, but "
                f"MindSpore would read {listed} files: move other files away, and images out of "
                "folders inside of these folders"
            )

    def __len__(self):
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full + (rest > 0 and not self.drop_last)

    def __iter__(self):
        self._order.draw()
        return epoch_of(self.pipeline, self._order.generator)


def epoch_of(pipeline, generator=None):
    """The batches of one epoch, with a seed of its own for what is random in them."""
    seed = int(draws_of(generator).randint(2**31))
    state, drawn = random.getstate(), np.random.get_state()
    ds.config.set_seed(seed)  # which also seeds random and numpy
    try:
        if os.environ.get("MS_MIGRATE_DATASET_SINK") == "1":  # launch.py --dataset_sink
            return _sunk(pipeline)
        return pipeline.create_tuple_iterator(num_epochs=1)
    finally:
        random.setstate(state)
        np.random.set_state(drawn)


def _sunk(pipeline):
    """The batches through the device's queue, filled ahead of the steps."""
    fetch = mindspore.data_sink(_columns, pipeline)
    for _ in range(pipeline.get_dataset_size()):
        yield list(fetch())


def _columns(*values):
    return values
