"""A module of a library that a name, an attribute or a function's result holds.

    T = torchvision.transforms.v2 if args.v2 else torchvision.transforms
    crop = T.CenterCrop(224)

A member of what it holds is a member of the library, if the port writes the same for each of the
modules that it can be.
"""

from __future__ import annotations

from migrate.resolve.values import External, Union, Value, options_of
from migrate.table import Entry, Table


def modules_in(value: Value, table: Table) -> tuple[str, ...]:
    """The modules that a value can be; none if it can be anything else."""
    if value.__class__ is not External and value.__class__ is not Union:
        return ()
    names = [o.name if isinstance(o, External) else "" for o in options_of(value)]
    return tuple(dict.fromkeys(names)) if names and set(names) <= table.namespaces else ()


def one_member(modules: tuple[str, ...], name: str, table: Table) -> str:
    """The member that is meant, whichever of the modules it is taken from; "" if that matters."""
    members = [f"{module}.{name}" for module in modules]
    if all(member in table.namespaces for member in members):
        return members[0] if len(members) == 1 else ""
    rows = [table.get(member) for member in members]
    first = rows[0]
    if len(members) == 1:
        return members[0]
    if first is None or not all(row is not None and ports_alike(row, first) for row in rows):
        return ""
    return members[0]


def ports_alike(left: Entry, right: Entry) -> bool:
    """Whether two rows write a call or a name in the same way."""
    return left.status == right.status and _forms(left) == _forms(right)


def _forms(entry: Entry) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for form in entry.overloads:
        names = form.signature.names if form.signature else ()
        target = form.mindspore, form.emit, form.helper
        found.append((target, names, form.rename, form.pin, form.values, form.refuse, form.rules))
    return found
