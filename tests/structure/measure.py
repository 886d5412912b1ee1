"""Measure the structure of the sources, and write docs/results/structure.md.

    python -m tests.structure.measure

Complexity is cyclomatic, with `and`, `or`, conditional expressions and comprehensions counted. What
a port passes through is counted while reference_pt/resnet.py is ported.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "migrate"
RESULTS = ROOT / "docs" / "results" / "structure.md"
# From the bottom to the top: a folder may import those of its own line and of the lines above it.
LAYERS = (
    ("errors", "findings", "resources", "collection", "printable", "last_barrier", "files"),
    ("project",),
    ("syntax",),
    ("table",),
    ("resolve",),
    ("flow",),
    ("pipeline",),
    ("lower",),
    ("analyze", "plan"),
    ("rewrite",),
    ("graph_mode",),
    ("tidy",),
    ("emit",),
    ("port",),
)
_BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TEMPLATES = SOURCES / "emit" / "helpers"  # sources of emitted helpers, not of ours
_COMMANDS = ("analyze/command.py", "port/command.py")  # on top of everything


@dataclass(frozen=True, slots=True)
class Import:
    """One file of migrate imports another part of it."""

    path: str
    line: int
    name: str  # dotted, without the leading `migrate.`


@dataclass(frozen=True, slots=True)
class Function:
    """A function and its cyclomatic complexity."""

    path: str
    name: str
    complexity: int


def sources() -> list[Path]:
    return [p for p in sorted(SOURCES.rglob("*.py")) if not p.is_relative_to(_TEMPLATES)]


def imports() -> Iterator[Import]:
    for path in sources():
        name = path.relative_to(SOURCES).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("migrate."):
                yield Import(name, node.lineno, (node.module or "").removeprefix("migrate."))
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("migrate."):
                        yield Import(name, node.lineno, alias.name.removeprefix("migrate."))


def layer(name: str) -> int:
    """The number of the layer of a folder or module; commands and reports stand on top."""
    for number, names in enumerate(LAYERS):
        if name in names:
            return number
    return len(LAYERS)


def backward_imports() -> list[Import]:
    """Imports of a higher layer."""
    found = []
    for one in imports():
        folder = one.path.partition("/")[0].removesuffix(".py")
        here = len(LAYERS) if one.path in _COMMANDS else layer(folder)
        if layer(one.name.partition(".")[0]) > here:
            found.append(one)
    return found


def two_way_pairs() -> set[frozenset[str]]:
    """Folders that import each other."""
    edges = {
        (one.path.partition("/")[0], one.name.partition(".")[0])
        for one in imports()
        if "/" in one.path and one.path not in _COMMANDS
    }
    return {frozenset(edge) for edge in edges if edge[::-1] in edges and edge[0] != edge[1]}


def functions(*, templates: bool = True) -> list[Function]:
    """All functions and methods, those inside others among them; with those of the helpers that
    are emitted, or without.
    """
    found = []
    for path in sorted(SOURCES.rglob("*.py")) if templates else sources():
        name = path.relative_to(SOURCES).as_posix()
        found += [Function(name, *one) for one in _functions(ast.parse(path.read_text("utf-8")))]
    return found


def _functions(node: ast.AST) -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            yield child.name, 1 + sum(map(_decisions, _own_nodes(child)))
        yield from _functions(child)


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions defined in it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, _FUNCTIONS):
            yield child
            yield from _own_nodes(child)


def _decisions(node: ast.AST) -> int:
    """How many ways a node adds: branches, loops, handlers, `and`, `or`, comprehensions."""
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.match_case):
        return 1
    return int(isinstance(node, _BRANCHES))


def uses_of_id() -> list[str]:
    """Lines that call `id()`."""
    found = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "id":
                found.append(f"{path.relative_to(SOURCES).as_posix()}:{node.lineno}")
    return sorted(set(found))


def longest_chain() -> list[str]:
    """The longest line of classes that inherit from each other."""
    bases: dict[str, list[str]] = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [b.id for b in node.bases if isinstance(b, ast.Name)]

    def chain(name: str) -> list[str]:
        inner = [chain(base) for base in bases.get(name, []) if base in bases and base != name]
        return [name, *max(inner, key=len, default=[])]

    return max(map(chain, bases), key=len)


def passed_through() -> tuple[int, int]:
    """The modules and functions that a port of ResNet runs."""
    program = (
        "import sys, json\n"
        "from pathlib import Path\n"
        "from migrate.port.tree import Options, port_tree\n"
        "from migrate.project import discover\n"
        "from migrate.table import Table\n"
        "path = Path('reference_pt/resnet.py')\n"
        "project, table = discover([path]), Table()\n"
        "seen = set()\n"
        "def note(frame, event, _):\n"
        "    if event == 'call' and '/migrate/' in frame.f_code.co_filename:\n"
        "        seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))\n"
        "sys.setprofile(note)\n"
        "port_tree([path], project, table, Options(jobs=1))\n"
        "sys.setprofile(None)\n"
        "print(json.dumps([len({file for file, _ in seen}), len(seen)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    modules, calls = json.loads(done.stdout)
    return modules, calls


def report() -> str:
    """The page under docs/results."""
    from migrate.pipeline import all_passes

    found = functions()
    own = [one.complexity for one in functions(templates=False)]
    worst = sorted(found, key=lambda one: -one.complexity)[:5]
    modules, calls = passed_through()
    passes = all_passes()
    reasons = sum(len(one.after) for one in passes)
    files = sources()
    lines = sum(path.read_text("utf-8").count("\n") for path in files)
    rows = [
        ("files, lines (helpers apart)", f"{len(files)}, {lines:,}"),
        ("modules and functions that `port resnet.py` runs", f"{modules}, {calls}"),
        ("imports against the layers", str(len(backward_imports()))),
        ("pairs of folders that import each other", str(len(two_way_pairs()))),
        ("passes, declared reasons for their order", f"{len(passes)}, {reasons}"),
        ("longest chain of inheritance", f"{len(longest_chain())}"),
        ("functions", str(len(found))),
        ("mean complexity", f"{mean(one.complexity for one in found):.2f}"),
        ("mean complexity without the emitted helpers", f"{mean(own):.2f}"),
        ("largest complexity", str(worst[0].complexity)),
        ("functions above 25", str(sum(one.complexity > 25 for one in found))),
        ("lines that use `id()`", str(len(uses_of_id()))),
    ]
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    most = "\n".join(f"- `{one.path}`: `{one.name}`, {one.complexity}" for one in worst)
    return (
        "# Structure of the sources\n\n"
        "Made by `make structure` (`python -m tests.structure.measure`), 2026-11-17. "
        "Complexity is cyclomatic; `and`, `or`, conditional expressions and comprehensions\n"
        "count.\n\n"
        f"| what | measured |\n|---|---|\n{table}\n\n"
        f"The most complex functions:\n\n{most}\n"
    )


if __name__ == "__main__":
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(report(), encoding="utf-8")
    print(report())
