"""Which torch class derives from which, as far as inherited members matter."""

from __future__ import annotations

import ast
from functools import lru_cache

from migrate.syntax.access import attribute_of

# Families by prefix: every class below the prefix inherits the members of the base.
_FAMILIES = (
    ("torch.optim.lr_scheduler.", "torch.optim.lr_scheduler.LRScheduler"),
    ("torch.optim.", "torch.optim.Optimizer"),
    ("torch.distributions.transforms.", ""),
    ("torch.distributions.", "torch.distributions.Distribution"),
    ("torch.nn.utils.rnn.", ""),
    ("torch.nn.", "torch.nn.Module"),
    ("einops.layers.torch.", "torch.nn.Module"),
    ("torchvision.models.", "torch.nn.Module"),
    ("torchvision.ops.", "torch.nn.Module"),
    ("torchvision.datasets.", "torch.utils.data.Dataset"),
    ("torch.utils.data.", "torch.utils.data.Dataset"),
)
_BASES = {
    "torch.nn.Parameter": "torch.Tensor",
    "torch.nn.Buffer": "torch.Tensor",
    "torch.nn.Module": "",
    "torch.optim.Optimizer": "",
    "torch.optim.lr_scheduler.LRScheduler": "",
    "torch.optim.swa_utils.AveragedModel": "torch.nn.Module",
    "torch.optim.swa_utils.SWALR": "torch.optim.lr_scheduler.LRScheduler",
    "torch.utils.data.Dataset": "",
    "torch.utils.data.DataLoader": "",
    "torch.FloatTensor": "torch.Tensor",
    "torch.LongTensor": "torch.Tensor",
    "torch.cuda.FloatTensor": "torch.Tensor",
    "torch.nn.Identity": "torch.nn.Module",
    "torch.distributed.fsdp.FullyShardedDataParallel": "torch.nn.Module",
}
# Bases that torch keeps to itself and users test against: an instance is one of these.
_COMMON_BASES = {
    "torch.nn.modules.batchnorm._BatchNorm": (
        "torch.nn.BatchNorm1d",
        "torch.nn.BatchNorm2d",
        "torch.nn.BatchNorm3d",
    ),
    "torch.nn.modules.conv._ConvNd": (
        "torch.nn.Conv1d",
        "torch.nn.Conv2d",
        "torch.nn.Conv3d",
        "torch.nn.ConvTranspose1d",
        "torch.nn.ConvTranspose2d",
        "torch.nn.ConvTranspose3d",
    ),
}


def instances_of(cls: str) -> tuple[str, ...]:
    """The classes that an object of this class can really have."""
    return _COMMON_BASES.get(cls, (cls,))


OPTIMIZER = "torch.optim.Optimizer"


@lru_cache(maxsize=2048)
def ancestors(cls: str) -> tuple[str, ...]:
    """The class itself and what it inherits from, nearest first."""
    chain = [cls]
    while True:
        base = _BASES.get(chain[-1])
        if base is None:
            base = next((b for prefix, b in _FAMILIES if chain[-1].startswith(prefix)), "")
        if not base or base in chain:
            return tuple(chain)
        chain.append(base)


def is_bare_optimizer(name: str) -> bool:
    """The base of all optimizers, by the name of whichever module it is taken from."""
    return name in (OPTIMIZER, "torch.optim.optimizer.Optimizer")


def skips_base(cls: ast.ClassDef) -> bool:
    """A constructor that never calls that of the base: `class Lookahead(Optimizer)`, which holds
    another optimizer and takes nothing but the name from its base.
    """
    own = [n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    return bool(own) and not any(
        attribute_of(node) in ("__init__", "__setstate__", "__dict__") for node in ast.walk(own[0])
    )


def is_module(cls: str) -> bool:
    return "torch.nn.Module" in ancestors(cls)
