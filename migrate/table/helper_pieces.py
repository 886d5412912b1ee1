"""The pieces of MindSpore that ported code may need: found in migrate/emit/helpers, copied only
where used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from migrate.syntax.ast_index import all_nodes

_PACKAGE = "migrate.emit.helpers"
_DEFINED = re.compile(r"^(?:def |class |(?=\w+(?: *:[^=\n]+)? = ))(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Definition:
    """One top-level function, class or constant of a helper file."""

    name: str
    source: str
    imports: tuple[str, ...]  # import lines it needs
    needs: tuple[str, ...]  # other definitions it uses
    first: tuple[str, ...]  # those that must stand before it: bases, decorators, defaults
    order: tuple[int, int]  # of its file, and in it
    is_class: bool
    file: str  # the name of its file, without the ending


class HelperIndex:
    """All definitions by name."""

    def __init__(self, definitions: Mapping[str, Definition]) -> None:
        self.definitions = definitions

    def __contains__(self, name: str) -> bool:
        return name in self.definitions

    def is_class(self, name: str) -> bool:
        found = self.definitions.get(name)
        return found is not None and found.is_class

    def takes(self, name: str, argument: str) -> bool:
        """Whether a class of this name is made with such an argument."""
        found = self.definitions.get(name)
        return found is not None and found.is_class and f" {argument}=None" in found.source

    def gives(self, name: str, attribute: str) -> bool:
        """Whether what derives from a class of this name has such an attribute."""
        found = self.definitions.get(name)
        return found is not None and found.is_class and f"\n    {attribute} = " in found.source

    def closure(self, names: list[str]) -> list[Definition]:
        """The named definitions and all they need, in an order in which Python can define them."""
        wanted: dict[str, Definition] = {}
        pending = [name for name in names if name in self.definitions]
        while pending:
            name = pending.pop()
            if name not in wanted:
                wanted[name] = self.definitions[name]
                pending += wanted[name].needs
        ordered: list[Definition] = []
        done: set[str] = set()

        def place(definition: Definition) -> None:
            if definition.name in done:
                return
            done.add(definition.name)
            for need in definition.first:
                if need in wanted:
                    place(wanted[need])
            ordered.append(definition)

        for definition in sorted(wanted.values(), key=lambda d: d.order):
            place(definition)
        return ordered


@cache
def helper_index() -> HelperIndex:
    """Read the helper files as text; they are never imported here, since they import MindSpore."""
    return HelperIndex(_Pieces(Path(__file__).parent.parent / "emit" / "helpers"))


class _Pieces(Mapping[str, Definition]):
    """Definitions by name; a file is parsed when something of it is first asked for."""

    def __init__(self, folder: Path) -> None:
        paths = [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]
        self._files = [path.stem for path in paths]
        self._texts = [path.read_text(encoding="utf-8") for path in paths]
        self._places = {
            found[1]: number
            for number, text in enumerate(self._texts)
            for found in _DEFINED.finditer(text)
        }
        self._read: dict[int, dict[str, Definition]] = {}

    def __getitem__(self, name: str) -> Definition:
        number = self._places[name]
        if number not in self._read:
            self._read[number] = _read(self._texts[number], number, self._files[number])
        return self._read[number][name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _imports_of(tree: ast.Module) -> tuple[dict[str, str], dict[str, str]]:
    """The import statement for each bound name; and of names of other pieces, what they are."""
    imports: dict[str, str] = {}
    foreign: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = (alias.asname or alias.name).partition(".")[0]
                imports[bound] = ast.unparse(ast.Import([alias]))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PACKAGE):
            foreign |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                statement = ast.ImportFrom(node.module, [alias], node.level)
                imports[alias.asname or alias.name] = ast.unparse(statement)
    return imports, foreign


def _read(text: str, number: int, file: str) -> dict[str, Definition]:
    definitions: dict[str, Definition] = {}
    lines = text.splitlines()
    tree = ast.parse(text)
    imports, foreign = _imports_of(tree)
    local = {name for node in tree.body for name in _defined(node)}
    for node in tree.body:
        for name in _defined(node):
            used = {n.id for n in all_nodes(node) if n.__class__ is ast.Name}
            start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            start = _with_comments(lines, start)
            definitions[name] = Definition(
                name=name,
                source="\n".join(lines[start - 1 : node.end_lineno]),
                imports=tuple(imports[word] for word in sorted(used) if word in imports),
                needs=tuple(
                    sorted((used & local - {name}) | {foreign[w] for w in used if w in foreign})
                ),
                first=tuple(sorted(_used_at_once(node))),
                order=(number, len(definitions)),
                is_class=isinstance(node, ast.ClassDef),
                file=file,
            )
    return definitions


def _used_at_once(node: ast.AST) -> set[str]:
    """Names that Python looks up when it meets the definition, not when it runs the body."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        names = {node.id} if isinstance(node, ast.Name) else set()
        for child in ast.iter_child_nodes(node):
            names |= _used_at_once(child)
        return names
    parts: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults]
    if not isinstance(node, ast.Lambda):
        parts += node.decorator_list
    return {name for part in parts if part is not None for name in _used_at_once(part)}


def _with_comments(lines: list[str], start: int) -> int:
    """A comment right above a definition belongs to it."""
    while start > 1 and lines[start - 2].startswith("#"):
        start -= 1
    return start


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []
