"""ms_migrate_runtime: every helper as an installed package, for teams that port many repositories.

`ms-migrate port --helpers package` then writes a list of names where it would write definitions.
`python -m migrate.emit.runtime_package DIR` (`make runtime`) builds the wheel. The pieces are one
module, as they are beside a port: some ask whether a class is a neighbour of theirs. What takes
effect when it is defined (`Tensor.__format__ = ...`) is a file of its own, which is read only where
it is asked for.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from pathlib import Path

import migrate
from migrate.emit.spacing import spaced
from migrate.rewrite.names.imports import import_lines
from migrate.table.helper_pieces import Definition, helper_index

PACKAGE = "ms_migrate_runtime"
_PROJECT = f"""\
[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "ms-migrate-runtime"
version = "{migrate.__version__}"
description = "Pieces with torch's signatures and semantics that code ported by ms-migrate uses"
license = "Apache-2.0"
requires-python = ">=3.9"
dependencies = ["mindspore>=2.7", "numpy"]

[tool.setuptools]
packages = ["{PACKAGE}"]
"""
_HEAD = f'''"""Pieces with torch's signatures and semantics that code ported by ms-migrate uses."""

from importlib import import_module
{{imports}}

__version__ = "{migrate.__version__}"
_EFFECTS = {{effects}}


def require(version):
    """Refuse an older package than the one that a program was ported for."""
    if _numbers(__version__) < _numbers(version):
        raise ImportError(f"{PACKAGE} {{{{__version__}}}} is older than {{{{version}}}}")


def _numbers(version):
    return [int(part) for part in version.split(".")[:3]]


def __getattr__(name):
    """What takes effect by being defined is defined when it is first asked for."""
    if name not in _EFFECTS:
        raise AttributeError(f"{PACKAGE} {{{{__version__}}}} has no piece {{{{name!r}}}}")
    return getattr(import_module(f"{{{{__name__}}}}.with_{{{{name}}}}"), name)
'''


def runtime_files() -> dict[str, str]:
    """The files of the package by name."""
    index = helper_index()
    pieces = {name: index.definitions[name] for name in index.definitions}
    needed = {need for piece in pieces.values() for need in piece.needs}
    effects = [name for name, piece in pieces.items() if name not in needed and _acts(piece)]
    definitions = index.closure([name for name in pieces if name not in effects])
    imports: dict[str, None] = {}
    for definition in definitions:
        imports |= dict.fromkeys(definition.imports)
    head = _HEAD.format(imports="\n".join(import_lines(imports, set())), effects=tuple(effects))
    files = {"__init__.py": spaced([head, *(d.source for d in definitions)]) + "\n"}
    for name in effects:
        piece = pieces[name]
        taken = [f"from {PACKAGE} import {need}" for need in piece.needs]
        files[f"with_{name}.py"] = "\n".join(
            [
                f'"""What takes effect with `{name}`."""',
                "",
                *piece.imports,
                *taken,
                "",
                piece.source,
                "",
            ]
        )
    return files


def names_imported(names: list[str]) -> list[str]:
    """The lines of a helper module that takes these pieces from the package.

    Questions about classes (`torch_class`) look among the classes of the module that they are in,
    so they stay with the program, and know what a module beside it would know.
    """
    listed = [f"    {name}," for name in sorted({*names, "require"})]
    return [f"from {PACKAGE} import (", *listed, ")", "", f'require("{migrate.__version__}")']


def _acts(piece: Definition) -> bool:
    """`shown = Tensor.__repr__ = ...`, `shown = _show_as_torch()`: constants are in capitals."""
    (node,) = ast.parse(piece.source).body
    return isinstance(node, ast.Assign) and piece.name.islower() and piece.name[0] != "_"


def write_package(folder: Path) -> None:
    """The sources of the package, ready to be built."""
    package = folder / PACKAGE
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(_PROJECT, encoding="utf-8")
    for name, text in runtime_files().items():
        (package / name).write_text(text, encoding="utf-8")


def main(out: str) -> int:
    """Build the wheel into a folder."""
    with tempfile.TemporaryDirectory() as name:
        write_package(Path(name))
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        done = subprocess.run([*pip, "--wheel-dir", str(Path(out).absolute()), name], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
