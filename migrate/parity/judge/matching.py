"""Pair torch modules and parameters with MindSpore's by structure: names, then types and shapes,
then order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from migrate.parity.workers.structure import ModuleInfo, Variable

# What MindSpore's classic layers call the variables of their torch counterparts.
LOCAL_NAMES: dict[str, tuple[str, ...]] = {
    "weight": ("weight", "gamma", "embedding_table", "w", "embeddings"),
    "bias": ("bias", "beta"),
    "running_mean": ("running_mean", "moving_mean"),
    "running_var": ("running_var", "moving_variance"),
}
# torch counts batches only for momentum=None; MindSpore has no such counter.
IGNORED_BUFFERS = ("num_batches_tracked",)
_STATISTICS = ("running_mean", "running_var", "moving_mean", "moving_variance")


@dataclass(frozen=True)
class Pair:
    """One torch variable and the MindSpore parameter that holds it."""

    torch: str
    mindspore: str
    shape: tuple[int, ...]
    trainable: tuple[bool, bool]


@dataclass
class Matching:
    """How two models correspond."""

    modules: dict[str, str] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    unmatched_torch: list[str] = field(default_factory=list)
    unmatched_mindspore: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def match(
    torch: Iterable[ModuleInfo],
    mindspore: Iterable[ModuleInfo],
    renames: Mapping[str, str] | None = None,
) -> Matching:
    """Pair two structures; `renames` maps torch paths or names to MindSpore's and is believed."""
    ours, theirs = Tree(torch), Tree(mindspore)
    result = Matching()
    _Aligner(ours, theirs, dict(renames or {}), result).align("", "")
    _pair_variables(ours, theirs, dict(renames or {}), result)
    return result


def unknown_names(
    torch: Iterable[ModuleInfo], mindspore: Iterable[ModuleInfo], renames: Mapping[str, str]
) -> list[str]:
    """What a map names and neither model has: a slip of the pen that would pass unseen."""
    known = [_names(side) for side in (torch, mindspore)]
    return [
        f"{name} (in {framework})"
        for pair in renames.items()
        for name, names, framework in zip(pair, known, ("torch", "MindSpore"), strict=True)
        if name not in names
    ]


def _names(modules: Iterable[ModuleInfo]) -> set[str]:
    found = set()
    for module in modules:
        found.add(module.path)
        found.update(_full(module.path, local) for local in module.variables)
    return found


class Tree:
    """A structure with its children and signatures at hand."""

    def __init__(self, modules: Iterable[ModuleInfo]) -> None:
        self.modules = {module.path: module for module in modules}
        self.children: dict[str, list[str]] = {path: [] for path in self.modules}
        for path in self.modules:
            if path:
                self.children.setdefault(self.parent(path), []).append(path)

    def parent(self, path: str) -> str:
        """The nearest enclosing module: a name may itself contain a path that is no module."""
        while path:
            path = path.rpartition(".")[0]
            if path in self.modules:
                return path
        return ""

    def under(self, path: str) -> list[ModuleInfo]:
        prefix = f"{path}." if path else ""
        return [m for name, m in self.modules.items() if name == path or name.startswith(prefix)]

    def signature(self, path: str) -> tuple[tuple[int, ...], ...]:
        """The sizes of all variables below, in any order: equal for a module and its faithful
        port.
        """
        shapes = (
            squeezed(v.shape)
            for module in self.under(path)
            for local, v in module.variables.items()
            if local not in IGNORED_BUFFERS and not _optional(local, v)
        )
        return tuple(sorted(shapes))


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Conv1d's weight is (O, I, K) in torch and (O, I, 1, K) in MindSpore: sizes of one do not
    count.
    """
    return tuple(size for size in shape if size != 1)


def kind(type_name: str) -> str:
    """A type's name without what the frameworks spell differently."""
    name = re.sub(r"[^a-z0-9]", "", type_name.lower())
    for long, short in (
        ("linear", "dense"),
        ("sequentialcell", "sequential"),
        ("celllist", "modulelist"),
    ):
        name = name.replace(long, short)
    name = re.sub(r"conv(\d)dtranspose", r"convtranspose\1d", name)
    return re.sub(r"^(adaptive|global)avgpool(ing)?(\dd)?$", "globalavgpool", name)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


class _Aligner:
    """Walks two trees together, pairing children by ever weaker evidence."""

    def __init__(self, ours: Tree, theirs: Tree, renames: dict[str, str], result: Matching) -> None:
        self.ours, self.theirs, self.renames, self.result = ours, theirs, renames, result

    def align(self, path: str, other: str) -> None:
        self.result.modules[path] = other
        left = list(self.ours.children.get(path, ()))
        right = list(self.theirs.children.get(other, ()))
        for mine in list(left):
            wanted = self.renames.get(mine)
            if wanted is not None and wanted in self.theirs.modules:
                self._take(mine, wanted, left, right)
        same: Callable[[str, str], bool]
        for same in (
            self._name_and_sizes,
            self._plain_name_and_sizes,
            self._only_kind_and_sizes,
            self._name,
        ):
            for mine in list(left):
                found = next((yours for yours in right if same(mine, yours)), None)
                if found is not None:
                    self._take(mine, found, left, right)

    def _take(self, mine: str, yours: str, left: list[str], right: list[str]) -> None:
        left.remove(mine)
        if yours in right:
            right.remove(yours)
        if (
            _plain(mine.rpartition(".")[2]) != _plain(yours.rpartition(".")[2])
            and mine not in self.renames
        ):
            self.result.notes.append(f"{mine} was paired with {yours} by its type, sizes and place")
        self.align(mine, yours)

    def _sizes(self, mine: str, yours: str) -> bool:
        return self.ours.signature(mine) == self.theirs.signature(yours)

    def _name_and_sizes(self, mine: str, yours: str) -> bool:
        return mine.rpartition(".")[2] == yours.rpartition(".")[2] and self._sizes(mine, yours)

    def _plain_name_and_sizes(self, mine: str, yours: str) -> bool:
        return _plain(mine.rpartition(".")[2]) == _plain(yours.rpartition(".")[2]) and self._sizes(
            mine, yours
        )

    def _only_kind_and_sizes(self, mine: str, yours: str) -> bool:
        ours, theirs = self.ours.modules[mine], self.theirs.modules[yours]
        if self.ours.signature(mine):
            return self._sizes(mine, yours)
        return kind(ours.type) == kind(theirs.type) and not self.theirs.signature(yours)

    def _name(self, mine: str, yours: str) -> bool:
        return _plain(mine.rpartition(".")[2]) == _plain(yours.rpartition(".")[2])


def _pair_variables(ours: Tree, theirs: Tree, renames: dict[str, str], result: Matching) -> None:
    free = {
        _full(module.path, local): v
        for module in theirs.modules.values()
        for local, v in module.variables.items()
    }
    owners: dict[str, str] = {}
    waiting: list[tuple[ModuleInfo, str, Variable]] = []
    for module in ours.modules.values():
        for local, variable in module.variables.items():
            if local in IGNORED_BUFFERS:
                continue
            name = _full(module.path, local)
            found = _find(module, local, variable, theirs, renames, result, free)
            if found is None and variable.name in owners:
                found = owners[variable.name]  # tied: MindSpore lists a shared parameter once
            if found is None:
                waiting.append((module, local, variable))
                continue
            owners.setdefault(variable.name, found)
            target = free.get(found) or _variable(theirs, found)
            result.pairs.append(
                Pair(name, found, target.shape, (variable.trainable, target.trainable))
            )
    taken = {pair.mindspore for pair in result.pairs}
    left = [
        name
        for name in free
        if name not in taken and free[name].name not in {free[t].name for t in taken if t in free}
    ]
    _pair_by_order(waiting, left, free, result)


def _find(
    module: ModuleInfo,
    local: str,
    variable: Variable,
    theirs: Tree,
    renames: dict[str, str],
    result: Matching,
    free: Mapping[str, Variable],
) -> str | None:
    """The MindSpore name of one torch variable, or None."""
    wanted = renames.get(_full(module.path, local))
    if wanted is not None:
        return wanted if wanted in free else None
    other = result.modules.get(module.path)
    if other is None:
        return None
    # The layer itself first, then what it wraps (BatchNorm3d keeps its parameters in `bn2d`).
    for place in sorted(theirs.under(other), key=lambda m: m.path.count(".")):
        if place.path != other and _claimed(place.path, result):
            continue
        for candidate in LOCAL_NAMES.get(local, (local,)):
            name = _full(place.path, candidate)
            if name in free and squeezed(free[name].shape) == squeezed(variable.shape):
                return name
    return None


def _claimed(path: str, result: Matching) -> bool:
    return path in result.modules.values()


def _pair_by_order(
    waiting: list[tuple[ModuleInfo, str, Variable]],
    left: list[str],
    free: Mapping[str, Variable],
    result: Matching,
) -> None:
    """Last resort: what is left on both sides, if its sizes agree one by one in order of
    definition.
    """
    sizes = [squeezed(variable.shape) for _, _, variable in waiting]
    if (
        waiting
        and len(left) == len(waiting)
        and sizes == [squeezed(free[name].shape) for name in left]
    ):
        for (module, local, variable), name in zip(waiting, left, strict=True):
            torch_name = _full(module.path, local)
            result.pairs.append(
                Pair(torch_name, name, free[name].shape, (variable.trainable, free[name].trainable))
            )
            result.notes.append(f"{torch_name} was paired with {name} by its size and order alone")
        return
    for module, local, variable in waiting:
        name = f"{_full(module.path, local)} {list(variable.shape)}"
        if _optional(local, variable):
            result.notes.append(
                f"torch's buffer {name} has no counterpart: taken to be a constant of the code"
            )
        else:
            result.unmatched_torch.append(name)
    for full in left:
        if not _optional(full.rpartition(".")[2], free[full]):
            result.unmatched_mindspore.append(f"{full} {list(free[full].shape)}")


def _optional(local: str, variable: Variable) -> bool:
    """Masks, index tables and the like may be buffers on one side and constants on the other."""
    return variable.buffer and local not in _STATISTICS


def _variable(tree: Tree, name: str) -> Variable:
    path, _, local = name.rpartition(".")
    return tree.modules[path].variables[local]


def _full(path: str, local: str) -> str:
    return f"{path}.{local}" if path else local
