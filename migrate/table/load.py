"""Read mappings/*.toml: one file a namespace, read when a name of that namespace is first asked
for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from migrate.table import cache
from migrate.table.build import TableError, build_entries
from migrate.table.devices import Devices
from migrate.table.entry import VERSIONS, Entry, version_key
from migrate.table.mint import MintNames
from migrate.table.packages import Packages

__all__ = ["Table", "TableError"]

ASCEND_KERNELS = "ascend_kernels"
GRAPH_LIMITS = "graph_limits"
NATIVE_DATA = "native_data"
ALIASES = "aliases"
MINT = "mint"
DEVICES = "platforms"
PACKAGES = "packages"
# Files of rows that take the place of the usual ones in some programs: those that look for NaN,
# which some kernels swallow, those whose logits may be infinite, those that make complex numbers,
# those that look at the batches that a norm has counted or at the axes of listed parameters, and
# those that compute 1 - tanh(x) ** 2.
# The last are for releases before the one that brought a DataLoader.
VARIANTS = (
    *("nan", "infinite", "complex", "batch_counts", "parameter_shapes", "squashed", "earlier"),
)
NAN, INFINITE, COMPLEX, BATCH_COUNTS, PARAMETER_SHAPES, SQUASHED, EARLIER = VARIANTS
_EARLIER_THAN = "2.10"
# Files that hold no rows of APIs.
_OF_OTHERS = {
    ALIASES,
    ASCEND_KERNELS,
    DEVICES,
    GRAPH_LIMITS,
    MINT,
    NATIVE_DATA,
    PACKAGES,
    *VARIANTS,
}


class Table:
    """All rows, by torch name. A file is parsed on the first question that concerns it."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        cached: bool | None = None,
        version: str = "",
        variants: tuple[str, ...] = (),
    ) -> None:
        """Rows for the newest MindSpore, or for an older `version`; those of the `variants` come
        first.
        """
        from migrate.resources import folder as resource_folder

        bundled = resource_folder("mappings") if folder is None or cached is None else None
        self.folder = folder or bundled or Path()
        # Every command reads the bundled table, so it is worth a cache; others are not.
        self.cached = self.folder == bundled if cached is None else cached
        self.version = "" if version == VERSIONS[-1] else version
        self.variants = variants
        if self.version and version_key(self.version) < version_key(_EARLIER_THAN):
            there = EARLIER not in variants and (self.folder / f"{EARLIER}.toml").is_file()
            self.variants = (EARLIER, *variants) if there else variants
        self._namespaces: dict[str, Mapping[str, Entry]] = {}
        self._answers: dict[str, Entry | None] = {}

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The file names without ending: torch, torch.nn, torch.Tensor, ..."""
        names = {path.name.removesuffix(".toml") for path in self.folder.glob("*.toml")}
        if not names:
            raise TableError(f"no mapping files in {self.folder}")
        return frozenset(names - _OF_OTHERS)

    @cached_property
    def roots(self) -> frozenset[str]:
        """Packages whose names are APIs to look up: torch, torchvision, ... have a file each."""
        return frozenset(name.partition(".")[0] for name in self.namespaces)

    def get(self, name: str) -> Entry | None:
        """The row for a torch name, through aliases; None when the table does not know it."""
        if name in self._answers:
            return self._answers[name]
        canonical = self.canonical(name)
        entry = self._find(canonical)
        for variant in self.variants if entry is not None else ():
            entry = self._load(variant).get(canonical, entry)
        if entry is not None:
            entry = self._now(entry)
        self._answers[name] = entry
        return entry

    def canonical(self, name: str) -> str:
        """Where torch offers one object under several names, the documented one."""
        exact, prefixes = self._aliases
        if name in exact:
            return exact[name]
        # A prefix is a module; what follows is a member, or a member of a class in it.
        owner, _, last = name.rpartition(".")
        outer, _, middle = owner.rpartition(".")
        for prefix, rest in ((f"{owner}.", last), (f"{outer}.", f"{middle}.{last}")):
            if prefix in prefixes and self._find(prefixes[prefix] + rest) is not None:
                return prefixes[prefix] + rest
        return name

    def children(self, name: str) -> dict[str, Entry]:
        """Rows directly below a name: a class's methods, a namespace's members."""
        found: dict[str, Entry] = {}
        for namespace in self.namespaces:
            if namespace.startswith(name) or name.startswith(namespace):
                rows = self._load(namespace)
                found |= {
                    row: self._now(rows[row]) for row in rows if row.rpartition(".")[0] == name
                }
        return found

    def names(self) -> Iterator[str]:
        """Every row's own name, for searches that need nothing else."""
        for namespace in sorted(self.namespaces):
            rows = self._load(namespace)
            if isinstance(rows, cache.CachedRows):
                yield from rows.own_names()
            else:
                yield from dict.fromkeys(entry.torch for entry in rows.values())

    def __iter__(self) -> Iterator[Entry]:
        for namespace in sorted(self.namespaces):
            yield from map(self._now, self._load(namespace).values())

    def _now(self, entry: Entry) -> Entry:
        """The row as it is in the version that was asked for."""
        if not self.version:
            return entry
        from migrate.table.versions import at_version

        return at_version(entry, self.version)

    def _find(self, name: str) -> Entry | None:
        namespace = name
        while namespace:
            if namespace in self.namespaces and (entry := self._load(namespace).get(name)):
                return entry
            namespace = namespace.rpartition(".")[0]
        return None

    def _load(self, namespace: str) -> Mapping[str, Entry]:
        if namespace not in self._namespaces:
            path = self.folder / f"{namespace}.toml"
            state = cache.stamp(path) if self.cached else ()
            entries: Mapping[str, Entry] | None = cache.recall_rows(path, state) if state else None
            if entries is None:
                entries = build_entries(_read(path), path.name, self._mint, self._devices)
                if self.cached:
                    cache.store_rows(path, state, entries)
            self._namespaces[namespace] = entries
        return self._namespaces[namespace]

    @cached_property
    def _mint(self) -> MintNames:
        path = self.folder / f"{MINT}.toml"
        return MintNames.from_document(_read(path)) if path.exists() else MintNames()

    @cached_property
    def _devices(self) -> Devices:
        path = self.folder / f"{DEVICES}.toml"
        return Devices.from_document(_read(path)) if path.exists() else Devices()

    @cached_property
    def packages(self) -> Packages:
        """Packages beside torch that are built on it."""
        return Packages(self._document(PACKAGES), self.roots)

    @cached_property
    def _aliases(self) -> tuple[dict[str, str], dict[str, str]]:
        document = self._document(ALIASES)
        return dict(document.get("exact", {})), dict(document.get("prefix", {}))

    def _document(self, name: str) -> dict[str, Any]:
        """A file of plain values, from the cache where it is there."""
        path = self.folder / f"{name}.toml"
        if not path.exists():
            return {}
        state = cache.stamp(path) if self.cached else ()
        document: dict[str, Any] | None = cache.recall(path, state) if state else None
        if document is None:
            document = _read(path)
            if self.cached:
                cache.store(path, state, document)
        return document


def _read(path: Path) -> dict[str, Any]:
    import tomllib  # only where the cache has nothing

    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{path.name}: not valid TOML: {error}") from None
