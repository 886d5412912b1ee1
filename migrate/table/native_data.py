"""mappings/native_data.toml: what `port --data native` writes as a mindspore.dataset pipeline."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from migrate.resources import folder

FILE = "native_data.toml"


@dataclass(frozen=True, slots=True)
class NativeDataset:
    """The node of a pipeline that reads what a torch dataset reads."""

    source: str  # an expression with the holes {dataset} and {options}
    rows: str  # "files": encoded images; "arrays": HWC bytes


@dataclass(frozen=True, slots=True)
class NativeTransform:
    """How MindSpore's C++ operation stands to torchvision's on PIL images."""

    grey_levels: int = 0  # the largest measured difference, of 255
    fused: str = ""  # the operation that also decodes
    needs: str = ""  # "pil": there is none that stands for it

    @property
    def equal(self) -> bool:
        return not self.grey_levels and not self.needs


@cache
def native_data() -> tuple[dict[str, NativeDataset], dict[str, NativeTransform]]:
    """Datasets and transforms by torch name."""
    document = tomllib.loads((folder("mappings") / FILE).read_text(encoding="utf-8"))
    return (
        {name: NativeDataset(**row) for name, row in document["dataset"].items()},
        {name: NativeTransform(**row) for name, row in document["transform"].items()},
    )
