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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "migrate"
RESULTS = ROOT / "docs" / "results" / "structure.md"
# From the bottom to the top: a folder may import those of its own line and of the lines above it.
LAYERS = (
    (
        "envelope",
        "errors",
        "findings",
        "resources",
        "collection",
        "printable",
        "last_barrier",
        "vision_shim",
        "files",
    ),
    ("project",),
    ("syntax",),
    ("table",),
    ("resolve",),
    ("flow",),
    ("pipeline",),
    ("lower",),
    ("analyze", "plan"),
    ("style",),
    ("rewrite",),
    ("graph_mode",),
    ("tidy",),
    ("emit",),
    ("port",),
    ("parity",),
    ("weights", "preflight"),
    ("report",),
)
_STAGES = (
    *("project", "syntax", "table", "resolve", "flow", "lower", "analyze", "plan", "style"),
    *("rewrite", "graph_mode", "tidy", "emit", "port"),
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
        if layer(one.name.partition(".")[0]) > layer(folder):
            found.append(one)
    return found


def two_way_pairs() -> set[frozenset[str]]:
    """Folders and modules of the top level that import each other, wherever the import stands."""
    edges = {
        (one.path.partition("/")[0].removesuffix(".py"), one.name.partition(".")[0])
        for one in imports()
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


def compares_lines() -> list[str]:
    """Files that compare line numbers: a question about order, which the control flow answers."""
    return _files_with(
        lambda node: (
            isinstance(node, ast.Compare)
            and any(
                isinstance(part, ast.Attribute) and part.attr in ("lineno", "end_lineno")
                for part in ast.walk(node)
            )
        )
    )


def looks_at_contexts() -> list[str]:
    """Files outside of resolve, flow and syntax that look at Store and Load themselves."""
    found = _files_with(
        lambda node: (
            isinstance(node, ast.Attribute)
            and node.attr in ("Store", "Load")
            and isinstance(node.value, ast.Name)
            and node.value.id == "ast"
        )
    )
    return [path for path in found if path.partition("/")[0] not in ("resolve", "flow", "syntax")]


def module_scans() -> list[str]:
    """Calls that walk the tree of a whole file: `ast.walk(tree)`, `all_nodes(context.tree)`."""
    return _calls_on_modules("walk", "all_nodes")


def index_questions() -> list[str]:
    """Look-ups in the index of a file's nodes, which is made once: `nodes_of(tree, ast.Call)`."""
    return _calls_on_modules("nodes_of", "parents_of")


def _calls_on_modules(*names: str) -> list[str]:
    found = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            first = node.args[0]
            walked = getattr(first, "attr", getattr(first, "id", ""))
            if name in names and walked in ("tree", "module"):
                found.append(f"{path.relative_to(SOURCES).as_posix()}:{node.lineno}")
    return found


def patterns_over_code() -> list[str]:
    """Files of the port's stages that compile regular expressions."""
    stages = _STAGES[4:]
    found = _files_with(
        lambda node: (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
        )
    )
    return [path for path in found if path.partition("/")[0] in stages]


def notions_of_compiled_code() -> list[str]:
    """Names by which the sources have asked whether code is compiled."""
    words = ("runs_in_forward", "compiled_names", "forwards", "is_compiled")
    used = {
        node.attr
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in words
    }
    return [word for word in words if word in used]


def _files_with(wanted: Callable[[ast.AST], bool]) -> list[str]:
    return [
        path.relative_to(SOURCES).as_posix()
        for path in sources()
        if any(map(wanted, ast.walk(ast.parse(path.read_text("utf-8")))))
    ]


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


def _of_stages(places: list[str]) -> list[str]:
    return [place for place in places if place.partition("/")[0] in _STAGES]


def _listed(names: list[str]) -> str:
    return f"{len(names)}: " + ", ".join(f"`{name}`" for name in names)


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
    longest = max(files, key=lambda path: path.read_text("utf-8").count("\n"))
    length = longest.read_text("utf-8").count("\n")
    rows = [
        ("files, lines (helpers apart)", "", f"{len(files)}, {lines:,}"),
        ("the longest file", "", f"`{longest.relative_to(SOURCES).as_posix()}`, {length}"),
        ("modules and functions that `port resnet.py` runs", "140, 797", f"{modules}, {calls}"),
        ("imports against the layers", "", str(len(backward_imports()))),
        ("pairs of folders that import each other", "20", str(len(two_way_pairs()))),
        ("passes, declared reasons for their order", "none", f"{len(passes)}, {reasons}"),
        ("longest chain of inheritance", "23", f"{len(longest_chain())}"),
        ("functions", "", str(len(found))),
        ("mean complexity", "", f"{mean(one.complexity for one in found):.2f}"),
        ("mean complexity without the emitted helpers", "", f"{mean(own):.2f}"),
        ("largest complexity", "76", str(worst[0].complexity)),
        ("functions above 25", "", str(sum(one.complexity > 25 for one in found))),
        ("lines that use `id()`", "301", str(len(uses_of_id()))),
        ("of these, in the stages of the port", "", str(len(_of_stages(uses_of_id())))),
        ("files that compare line numbers", "23", str(len(compares_lines()))),
        ("files that look at Store and Load themselves", "32", str(len(looks_at_contexts()))),
        ("scans of a whole module", "56", str(len(module_scans()))),
        ("look-ups in the index of a module", "", str(len(index_questions()))),
        ("files of the port with regular expressions", "", str(len(patterns_over_code()))),
        ("notions of compiled code", "3", _listed(notions_of_compiled_code())),
    ]
    table = "\n".join(f"| {name} | {before} | {now} |" for name, before, now in rows)
    most = "\n".join(f"- `{one.path}`: `{one.name}`, {one.complexity}" for one in worst)
    return (
        "# Structure of the sources\n\n"
        f"Made by `make structure` (`python -m tests.structure.measure`), {date.today()}. "
        "Complexity is cyclomatic; `and`, `or`, conditional expressions and comprehensions\n"
        "count. *Before* is the state that the redesign of the porter started from, where it was\n"
        "measured; scans and looks at Store and Load were counted in another way then.\n\n"
        f"| what | before | now |\n|---|---|---|\n{table}\n\n"
        f"The most complex functions:\n\n{most}\n"
    )


if __name__ == "__main__":
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(report(), encoding="utf-8")
    print(report())
