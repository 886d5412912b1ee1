"""How a MindSpore name is written in a ported file, and which imports that takes."""

from __future__ import annotations

from dataclasses import dataclass, field

HELPERS = "helpers"
HELPER_MODULE = "ms_migrate_helpers"

# Longest prefix first: (dotted prefix, name it is known by, how it is imported)
_MODULES = (
    ("mindspore.common.initializer", "", "from mindspore.common.initializer import {member}"),
    (
        "mindspore.experimental.optim.lr_scheduler",
        "lr_scheduler",
        "from mindspore.experimental.optim import lr_scheduler",
    ),
    ("mindspore.experimental.optim", "optim", "from mindspore.experimental import optim"),
    ("mindspore.dataset.dataloader", "dataloader", "from mindspore.dataset import dataloader"),
    ("mindspore.dataset.transforms", "transforms", "from mindspore.dataset import transforms"),
    ("mindspore.dataset.vision", "vision", "from mindspore.dataset import vision"),
    ("mindspore.dataset", "ds", "import mindspore.dataset as ds"),
    ("mindspore.train", "", "from mindspore.train import {member}"),
    ("mindspore.communication", "communication", "from mindspore import communication"),
    ("mindspore.numpy", "mnp", "import mindspore.numpy as mnp"),
    ("mindspore.mint", "mint", "from mindspore import mint"),
    ("mindspore.nn", "nn", "from mindspore import nn"),
    ("mindspore.ops", "ops", "from mindspore import ops"),
    ("mindspore.amp", "amp", "from mindspore import amp"),
    ("mindspore.scipy", "msp", "import mindspore.scipy as msp"),
    ("mindspore", "mindspore", "import mindspore"),
    ("numpy", "np", "import numpy as np"),
    ("math", "math", "import math"),
    ("functools", "functools", "import functools"),
    ("os", "os", "import os"),
    ("multiprocessing", "multiprocessing", "import multiprocessing"),
)
# Written bare, as MindSpore authors do.
_BARE = {
    "mindspore.Tensor": "from mindspore import Tensor",
    "mindspore.Parameter": "from mindspore import Parameter",
    "mindspore.ParameterTuple": "from mindspore import ParameterTuple",
}
# The short roots that templates in the table use.
_ROOTS = {
    "nn": "mindspore.nn",
    "ops": "mindspore.ops",
    "mint": "mindspore.mint",
    "np": "numpy",
    "mnp": "mindspore.numpy",
    "ds": "mindspore.dataset",
    "mindspore": "mindspore",
    "math": "math",
    "functools": "functools",
    "os": "os",
    "multiprocessing": "multiprocessing",
    HELPERS: HELPERS,
}


@dataclass(slots=True)
class ImportPlanner:
    """Collects what one file needs to import; `taken` are names the file binds itself."""

    taken: frozenset[str]
    helper_import: str = f"import {HELPER_MODULE} as {HELPERS}"
    helper_alias: str = ""  # what an import that is there already calls the helper module
    quote: str = "'"  # the file's usual quotes
    mint: bool = False  # prefer mindspore.mint, whose names and parameters are torch's
    imports: dict[str, None] = field(default_factory=dict)  # import lines, each once
    helpers: dict[str, None] = field(default_factory=dict)  # names used of the helper module
    torch: set[str] = field(
        default_factory=set
    )  # packages that must stay imported: torch, torchvision
    # Names of torch's that stay imported in a `try`, and what they are bound to there.
    guarded: dict[str, str] = field(default_factory=dict)

    def name(self, dotted: str) -> str:
        """The expression that means `dotted`, with its import noted."""
        head, _, rest = dotted.partition(".")
        if head in _ROOTS and not dotted.startswith("mindspore."):
            dotted = f"{_ROOTS[head]}.{rest}" if rest else _ROOTS[head]
        if dotted.startswith(f"{HELPERS}."):
            return self.helper(rest)
        if dotted in _BARE:
            return self._bare(dotted)
        owner, _, member = dotted.rpartition(".")
        if owner in _BARE:
            return f"{self._bare(owner)}.{member}"
        for prefix, known_as, line in _MODULES:
            if dotted == prefix or dotted.startswith(f"{prefix}."):
                return self._member(dotted[len(prefix) + 1 :], prefix, known_as, line)
        raise KeyError(dotted)

    def helper(self, name: str) -> str:
        self.helpers[name] = None
        if self.helper_alias:
            return f"{self.helper_alias}.{name}"
        return f"{self._module(HELPERS, self.helper_import)}.{name}"

    def keep_torch(self, dotted: str) -> str:
        """A torch name that stays, spelled in full so that it cannot be taken for MindSpore's."""
        for start, bound in self.guarded.items():
            if dotted == start or dotted.startswith(f"{start}."):
                return f"{bound}{dotted[len(start) :]}"
        package = dotted.partition(".")[0]
        self.torch.add(package)
        return dotted

    def _bare(self, dotted: str) -> str:
        name = dotted.rpartition(".")[2]
        if name in self.taken:
            self.imports["import mindspore"] = None
            return dotted
        self.imports[_BARE[dotted]] = None
        return name

    def _member(self, member: str, prefix: str, known_as: str, line: str) -> str:
        if not known_as:
            first, _, rest = member.partition(".")
            if first in self.taken:
                alias = f"ms_{first}"
                self.imports[f"from {prefix} import {first} as {alias}"] = None
                return f"{alias}.{rest}" if rest else alias
            self.imports[line.format(member=first)] = None
            return member
        known_as = self._module(known_as, line)
        return f"{known_as}.{member}" if member else known_as

    def _module(self, known_as: str, line: str) -> str:
        if known_as not in self.taken:
            self.imports[line] = None
            return known_as
        alias = f"ms_{known_as}"
        base = line.partition(" as ")[0]
        self.imports[f"{base} as {alias}"] = None
        return alias
