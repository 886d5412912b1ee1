"""From TOML documents to entries: defaults, families and overloads unfolded, every mistake
named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from migrate.table.devices import Devices
from migrate.table.entry import KINDS, MODES, PLATFORMS, STATUSES, VERSIONS, Entry, Overload
from migrate.table.mint import BY_NAME, MintNames, gives_value
from migrate.table.mint import KINDS as MINT_KINDS
from migrate.table.signature import parse_signature

_OVERLOAD_KEYS = frozenset(Overload.__dataclass_fields__) - {"mint_facts"}
_ENTRY_KEYS = frozenset(Entry.__dataclass_fields__) - {"overloads", "examples"}
_ROW_KEYS = _ENTRY_KEYS | _OVERLOAD_KEYS | {"overload", "example", "aliases"}
_FAMILY_KEYS = _ROW_KEYS | {"names"}
# A file's [defaults] may state what holds for all its rows; of these only what fits a row's own
# parameters is taken.
_DEFAULT_KEYS = frozenset(
    {
        "kind",
        "feature",
        "drop",
        "refuse",
        "rename",
        "platforms",
        "modes",
        "since",
        "returns",
        "reference",
    }
)


class TableError(ValueError):
    """A mistake in a mapping file, with the file and the row."""


def build_entries(
    document: Mapping[str, Any],
    file: str,
    mint: MintNames | None = None,
    devices: Devices | None = None,
) -> dict[str, Entry]:
    """All rows of one file by torch name, aliases included."""
    mint, devices = mint or MintNames(), devices or Devices()
    unknown = set(document) - {"defaults", "api", "family"}
    if unknown:
        raise TableError(
            f"{file}: unknown top-level keys {sorted(unknown)}; "
            "use [defaults], [[api]] and [[family]]"
        )
    defaults = document.get("defaults", {})
    _only_known(defaults, _DEFAULT_KEYS, f"{file}: [defaults]")
    entries: dict[str, Entry] = {}
    for row in _rows(document, file):
        entry = _entry(row, defaults, mint, devices, file)
        for name in (entry.torch, *row.get("aliases", ())):
            if name in entries:
                raise TableError(f"{file}: {name} has two rows")
            entries[name] = entry
    return entries


def _rows(document: Mapping[str, Any], file: str) -> Iterator[Mapping[str, Any]]:
    for row in document.get("api", ()):
        _only_known(row, _ROW_KEYS, f"{file}: {row.get('torch', 'a row without torch =')}")
        yield row
    for family in document.get("family", ()):
        where = f"{file}: family {family.get('torch', '')}"
        _only_known(family, _FAMILY_KEYS, where)
        if not family.get("names"):
            raise TableError(f"{where}: names is missing")
        shape = {key: value for key, value in family.items() if key != "names"}
        # A table of names gives each member a word of its own, which goes where {value} stands.
        for name in family["names"]:
            word = family["names"][name] if isinstance(family["names"], dict) else ""
            yield _fill(shape, name, word)


def _fill(shape: Any, name: str, word: str) -> Any:
    """Put one member's name into every `{name}` of a family, and its word into every `{value}`."""
    if isinstance(shape, str):
        text = shape.replace("{name}", name)
        return text.replace("{value}", word) if word else text
    if isinstance(shape, dict):
        return {key: _fill(value, name, word) for key, value in shape.items()}
    if isinstance(shape, list):
        return [_fill(value, name, word) for value in shape]
    return shape


def _entry(
    row: Mapping[str, Any],
    defaults: Mapping[str, Any],
    mint: MintNames,
    devices: Devices,
    file: str,
) -> Entry:
    name = row.get("torch")
    if not isinstance(name, str) or not name:
        raise TableError(f"{file}: a row has no torch name")
    where = f"{file}: {name}"
    kind = row.get("kind", defaults.get("kind"))
    if kind not in KINDS:
        raise TableError(f"{where}: kind is {kind!r}, expected one of {', '.join(KINDS)}")
    base = {key: value for key, value in row.items() if key in _OVERLOAD_KEYS}
    forms = row.get("overload") or [{}]
    for form in forms:
        _only_known(form, _OVERLOAD_KEYS, f"{where}: overload")
    inplace = bool(row.get("inplace", False))
    overloads = tuple(_overload({**base, **form}, defaults, where) for form in forms)
    # What changes its receiver or argument is written as a new value: mint's must give one.
    found = kind in MINT_KINDS and (not inplace or gives_value(name, kind))
    overloads = tuple(
        _with_mint(form, *mint.counterpart(form, name, kind)) if found else replace(form, mint="")
        for form in overloads
    )
    status = row.get("status") or _status(overloads, row)
    return Entry(
        torch=name,
        kind=kind,
        overloads=overloads,
        status=_one_of(status, STATUSES, where, "status"),
        note=row.get("note", ""),
        way=row.get("way", ""),
        feature=row.get("feature", defaults.get("feature", "")),
        platforms=_all_of(
            row.get("platforms") or defaults.get("platforms") or devices.of(overloads),
            PLATFORMS,
            where,
            "platforms",
        ),
        modes=_all_of(row.get("modes", defaults.get("modes", MODES)), MODES, where, "modes"),
        reference=row.get("reference", defaults.get("reference", "")),
        inplace=inplace,
        tensors=_tensors(row, overloads, where),
        assign=row.get("assign", ""),
        examples=tuple(_examples(row, where)),
    )


def _tensors(
    row: Mapping[str, Any], overloads: tuple[Overload, ...], where: str
) -> tuple[str, ...] | None:
    if "tensors" not in row:
        return None
    names = {name for form in overloads if form.signature for name in form.signature.names}
    unknown = [name for name in row["tensors"] if name.removeprefix("*") not in names]
    if unknown:
        raise TableError(f"{where}: tensors: {', '.join(unknown)} is no parameter")
    return tuple(row["tensors"])


def _overload(form: Mapping[str, Any], defaults: Mapping[str, Any], where: str) -> Overload:
    params = form.get("params")
    names: tuple[str, ...] = ()
    if params is not None:
        try:
            names = parse_signature(params).names
        except SyntaxError:
            raise TableError(f"{where}: params is not a parameter list: {params!r}") from None
    own = dict(form)
    # A default speaks of parameters that many rows share (out, device): it holds where the row
    # has that parameter.
    given = {*own.get("drop", ()), *own.get("refuse", {}), *own.get("rename", {})}
    free = [
        name for name in names if name not in given and f"{{{name}}}" not in own.get("emit", "")
    ]
    # `drop = []` says that here no parameter is without effect, whatever the file's default.
    usual = () if form.get("drop") == [] else defaults.get("drop", ())
    own["drop"] = (*own.get("drop", ()), *(n for n in usual if n in free))
    for key in ("refuse", "rename"):
        own[key] = {
            **{n: v for n, v in defaults.get(key, {}).items() if n in free},
            **own.get(key, {}),
        }
    own.setdefault("returns", defaults.get("returns", ""))
    own.setdefault("since", defaults.get("since", ""))
    if own["since"]:
        _one_of(own["since"], VERSIONS, where, "since")
    own["rules"] = tuple(own.get("rules", ()))
    own["within"] = tuple(own.get("within", ()))
    own.setdefault("mint", BY_NAME)
    if params is not None and not parse_signature(params).varkwargs:
        for key in ("drop", "refuse", "rename", "values"):
            strangers = set(own.get(key, ())) - set(names)
            if strangers:
                raise TableError(
                    f"{where}: {key} names {sorted(strangers)}, which params does not have"
                )
    return Overload(**own)


def _with_mint(form: Overload, name: str, facts: Mapping[str, Any]) -> Overload:
    return replace(form, mint=name, mint_facts=facts)


def _status(overloads: tuple[Overload, ...], row: Mapping[str, Any]) -> str:
    """What the row itself shows, so that most rows need not say it."""
    if not any(overload.portable for overload in overloads):
        return "missing"
    main = overloads[0]
    if (main.helper and not main.mindspore) or main.emit.count("(") > 1:
        return "composed"
    if all(overload.plain for overload in overloads):
        return "supported"
    return "rewritten"


def _examples(row: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    given = row.get("example", [])
    for example in given if isinstance(given, list) else [given]:
        _only_known(example, frozenset({"before", "after"}), f"{where}: example")
        yield example["before"], example["after"]


def _only_known(mapping: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    unknown = set(mapping) - known
    if unknown:
        raise TableError(
            f"{where}: unknown keys {sorted(unknown)}; known are {', '.join(sorted(known))}"
        )


def _one_of(value: str, known: tuple[str, ...], where: str, key: str) -> str:
    if value not in known:
        raise TableError(f"{where}: {key} is {value!r}, expected one of {', '.join(known)}")
    return value


def _all_of(values: Any, known: tuple[str, ...], where: str, key: str) -> tuple[str, ...]:
    return tuple(_one_of(value, known, where, key) for value in values)
