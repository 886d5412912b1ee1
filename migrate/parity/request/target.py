"""Say which model to run: `path/file.py:callable(args)` or `package.module:callable(args)`."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from migrate.errors import RequestError
from migrate.parity.request import definitions, loading
from migrate.parity.request.own_packages import put_on_path
from migrate.project.namespaces import import_place

_SHAPE = re.compile(r"(?P<where>.+?):(?P<name>[^\W\d][\w.]*)\s*(?P<call>\(.*\))?\s*", re.DOTALL)
_NEXT_STEP = (
    "write it as path/to/file.py:callable or package.module:callable, with (arguments) if it "
    "needs any"
)


@dataclass(frozen=True)
class Target:
    """A callable that makes a model (or a loss, or an optimizer), and the call to make it with."""

    text: str
    where: str
    name: str
    call: str

    @property
    def is_file(self) -> bool:
        return self.where.endswith(".py")


def parse(text: str) -> Target:
    """Read a target as the command line gives it; the file must exist, the callable is looked up
    by the worker.
    """
    match = _SHAPE.fullmatch(text.strip())
    if match is None:
        raise RequestError(f"{text!r} does not name a callable", next_step=_NEXT_STEP)
    where, call = match["where"], match["call"] or ""
    if where.endswith(".py"):
        path = Path(where).expanduser()
        if not path.is_file():
            raise RequestError("no such file", where=where, next_step=_NEXT_STEP)
        where = str(path.resolve())
    elif not all(part.isidentifier() for part in where.split(".")):
        raise RequestError(
            f"{where!r} is neither a .py file nor a module name", next_step=_NEXT_STEP
        )
    if call:
        try:
            ast.parse(f"f{call}", mode="eval")
        except SyntaxError as error:
            raise RequestError(
                f"cannot read the arguments {call}: {error.msg}", where=text
            ) from error
    return Target(text, where, match["name"], call)


def difference(torch: str, mindspore: str) -> str:
    """What differs between the calls of two targets, as a sentence; empty if nothing does."""
    calls = []
    for text in (torch, mindspore):
        match = _SHAPE.fullmatch(text.strip())
        if match is None:
            return ""
        calls.append((match["name"], match["call"] or "()"))
    (_, ours), (_, theirs) = calls
    if ast.dump(ast.parse(f"f{ours}")) == ast.dump(ast.parse(f"f{theirs}")):
        return ""
    shown = [f"`{name}{call}`" for name, call in calls]
    return (
        f"The two models were made with different arguments, {shown[0]} in torch and {shown[1]} in "
        "MindSpore: if that was not meant, it is the cause."
    )


def package_of(path: Path) -> tuple[Path, str]:
    """Return the folder to import from and the dotted name, so that relative imports keep
    working.
    """
    place = import_place(path)
    stem = [] if path.stem == "__init__" else [path.stem]
    return Path(place.root), ".".join([*([place.package] if place.package else []), *stem])


def load(target: Target) -> Any:
    """Import the target's module (worker only: this runs user code) and return the named object."""
    module = _import_file(Path(target.where)) if target.is_file else _import_module(target)
    found: Any = module
    for part in target.name.split("."):
        if not hasattr(found, part):
            raise RequestError(
                f"there is no {target.name!r} here",
                where=target.where,
                next_step=f"it offers: {', '.join(_offers(module)[:20])}",
            )
        found = getattr(found, part)
    return found


def _offers(module: Any) -> list[str]:
    """What could have been meant: callables that the module defines, or else those it imports."""
    public = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value)
    }
    own = [n for n, value in public.items() if getattr(value, "__module__", "") == module.__name__]
    return own or list(public)


def build(target: Target) -> Any:
    """Make the object that the target describes: call it with its arguments, or with none."""
    found = load(target)
    data = loading.current().config
    if not target.call:
        if not callable(found) or _is_instance_of_layer(found):
            return found
        return found() if data is None else found(loading.config_for(found, data))
    module = sys.modules[found.__module__] if hasattr(found, "__module__") else None
    namespace = dict(vars(module)) if module else {}
    namespace["_ms_migrate_target"] = found
    if data is not None:
        namespace["config"] = loading.config_for(found, data)
    return eval(compile(f"_ms_migrate_target{target.call}", "<target>", "eval"), namespace)


def _is_instance_of_layer(found: Any) -> bool:
    return not isinstance(found, type) and any(
        base.__name__ in ("Module", "Cell")
        and base.__module__.split(".")[0] in ("torch", "mindspore")
        for base in type(found).__mro__
    )


def _import_module(target: Target) -> ModuleType:
    put_on_path(os.getcwd())
    try:
        return importlib.import_module(target.where)
    except ModuleNotFoundError as error:
        if error.name and target.where.startswith(error.name):
            raise RequestError(
                f"there is no module {error.name!r}",
                where=target.text,
                next_step="run from its folder, or install it",
            ) from error
        raise


def _import_file(path: Path) -> ModuleType:
    folder, name = package_of(path)
    put_on_path(folder)
    if loading.current().definitions_only:
        return _define(path, name)
    if "." in name or path.stem == "__init__":
        # A file of a package: import it by its dotted name, else its relative imports fail.
        return importlib.import_module(name)
    # A lone file: load it from its path, since its name may also be that of an installed module.
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RequestError("cannot be imported as Python", where=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _define(path: Path, name: str) -> ModuleType:
    """Run the definitions of a file, and nothing else of it."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    if package:
        importlib.import_module(package)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    exec(definitions.compile_definitions(path.read_bytes(), str(path)), vars(module))
    return module
