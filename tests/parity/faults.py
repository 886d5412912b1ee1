"""Seeded faults: each is one edit of a faithful twin, with the stage and the layer it must be
found at.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

TWINS = Path(__file__).parent / "twins"


@dataclass(frozen=True)
class Family:
    """A torch model, its faithful twin, and the step to take with them."""

    name: str
    callable: str
    inputs: tuple[str, ...]
    loss: str = "cross_entropy"
    classes: int | None = None
    own_loss: str = ""
    own_optimizer: str = ""
    steps: int = 1

    @property
    def files(self) -> tuple[Path, Path]:
        stem = self.name.split("-")[0]
        return TWINS / f"{stem}_torch.py", TWINS / f"{stem}_ms.py"


FAMILIES = {
    family.name: family
    for family in (
        Family("cnn", "Net", ("4,3,32,32",), classes=10),
        Family("mlp", "Mixer", ("6,16",)),
        Family("attention", "Transformer", ("3,12:int64:0:12",), classes=40),
        Family(
            "cnn-sgd", "Net", ("4,3,32,32",), classes=10, own_loss="loss", own_optimizer="optimizer"
        ),
        Family("cnn-decay", "Net", ("4,3,32,32",), classes=10, own_optimizer="decay_all"),
        Family("cnn-adamw", "Net", ("4,3,32,32",), classes=10, own_optimizer="adamw"),
        Family("cnn-curve", "Net", ("4,3,32,32",), classes=10, own_optimizer="decay_all", steps=3),
    )
}


@dataclass(frozen=True)
class Fault:
    """One edit and what must be said of it; `path` is the torch path ('' is the model's own
    code).
    """

    name: str
    family: str
    old: str
    new: str
    stage: str
    path: str
    where: str = "model"


def _load() -> list[Fault]:
    with (Path(__file__).parent / "faults.toml").open("rb") as file:
        return [Fault(**entry) for entry in tomllib.load(file)["fault"]]


FAULTS = _load()
