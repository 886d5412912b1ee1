"""Datasets and loaders from configurations."""

import random
from functools import partial

import numpy as np
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from ..registry import Registry

DATASETS = Registry("dataset")
PIPELINES = Registry("pipeline")


def build_dataset(cfg):
    return DATASETS.build(cfg)


def worker_init_fn(worker_id, seed):
    np.random.seed(seed + worker_id)
    random.seed(seed + worker_id)
    torch.manual_seed(seed + worker_id)


def build_dataloader(dataset, samples_per_gpu, shuffle, training=True, dist=False, seed=None):
    sampler = DistributedSampler(dataset, shuffle=shuffle and training) if dist else None
    return DataLoader(
        dataset,
        batch_size=samples_per_gpu,
        sampler=sampler,
        shuffle=shuffle and training and sampler is None,
        num_workers=0,
        pin_memory=torch.cuda.is_available(),
        drop_last=training,
        worker_init_fn=partial(worker_init_fn, seed=seed) if seed is not None else None,
    )
