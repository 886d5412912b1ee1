"""Other spellings of a module that mean the same: laid out anew, locals renamed, cut in two."""

from __future__ import annotations

import ast
import builtins
import copy
import io
import keyword
import symtable
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

_BUILTINS = frozenset(dir(builtins))
_RELATIVE = ("from", "import")
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def reformatted(text: str) -> str:
    """As ast prints it: no comments, other quotes, parentheses and line breaks."""
    return ast.unparse(ast.parse(text)) + "\n"


def squeezed(text: str) -> str:
    """No space that Python does not need: `self.y=self.fc(x)`, `a.append(b),c.append(d)`."""
    out: list[str] = []
    at_start, last = True, ""
    for token in tokenize.generate_tokens(io.StringIO(reformatted(text)).readline):
        if token.type in (tokenize.NEWLINE, tokenize.NL):
            out.append("\n")
            at_start, last = True, ""
            continue
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        if at_start:
            out.append(" " * token.start[1])
            at_start = False
        elif _needs_space(last, token.string):
            out.append(" ")
        out.append(token.string)
        last = token.string
    return "".join(out)


def _needs_space(left: str, right: str) -> bool:
    if right == ".":
        return left in _RELATIVE
    ends_word = left[-1:].isalnum() or left[-1:] in "_\"'"
    if right[:1] in "\"'":
        return left.isidentifier()
    return ends_word and (right[:1].isalnum() or right[:1] == "_")


def renamed_locals(text: str) -> str:
    """Every local variable of a function that is no parameter and that no inner scope sees."""
    tree = ast.parse(text)
    tables = {
        (table.get_name(), table.get_lineno()): table
        for table in _functions(symtable.symtable(text, "module", "exec"))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            table = tables.get((node.name, _first_line(node)))
            if table is not None:
                _Renamer(_private(table)).generic_visit(node)
    return ast.unparse(tree) + "\n"


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _functions(table: symtable.SymbolTable) -> list[symtable.Function]:
    found = [table] if isinstance(table, symtable.Function) else []
    return found + [inner for child in table.get_children() for inner in _functions(child)]


def _private(table: symtable.Function) -> frozenset[str]:
    seen = {name for child in table.get_children() for name in child.get_identifiers()}
    return frozenset(
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_local()
        and not symbol.is_parameter()
        and not symbol.is_imported()
        and not symbol.is_namespace()
        and symbol.get_name() not in seen
        and not symbol.get_name().startswith("__")
    )


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.names:
            node.id = f"{node.id}_local"
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name in self.names:
            node.name = f"{node.name}_local"
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node  # has its own turn

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node


@dataclass(frozen=True)
class Parts:
    """A module cut in two: `main` imports `moved` names from `helper`."""

    main: str
    helper: str
    moved: tuple[str, ...]


def split(text: str, helper: str, only_functions: bool = False) -> Parts | None:
    """Move definitions that need nothing but imports, and each other, to another file."""
    tree = ast.parse(text)
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    future = [n for n in imports if getattr(n, "module", "") == "__future__"]
    offered = {
        alias.asname or alias.name.partition(".")[0] for n in imports for alias in n.names
    } | _BUILTINS
    kinds = (ast.FunctionDef,) if only_functions else _DEFINITIONS
    candidates = {n.name: n for n in tree.body if isinstance(n, kinds)}
    while True:
        fitting = {
            name: node
            for name, node in candidates.items()
            if not (_free_names(node) - offered - set(candidates))
        }
        if len(fitting) == len(candidates):
            break
        candidates = fitting
    rest = [n for n in tree.body if getattr(n, "name", None) not in candidates]
    if not candidates or len(rest) <= len(imports):
        return None
    plain = [n for n in imports if n not in future]
    helper_tree = ast.Module([*future, *copy.deepcopy(plain), *candidates.values()], [])
    names = tuple(sorted(candidates))
    link = ast.ImportFrom(helper, [ast.alias(name) for name in names], 0)
    at = max(rest.index(n) for n in imports) + 1 if imports else 0
    rest.insert(at, link)
    main_tree = ast.Module(rest, [])
    return Parts(_source(main_tree), _source(helper_tree), names)


def joined(first: str, second: str) -> str | None:
    """Two modules as one; None where both bind a name to different things."""
    trees = [ast.parse(first), ast.parse(second)]
    bound = [_bound_at_top(tree) for tree in trees]
    if any(bound[0][name] != bound[1][name] for name in bound[0].keys() & bound[1].keys()):
        return None
    future, rest = [], []
    for node in (node for tree in trees for node in tree.body[_has_docstring(tree) :]):
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        (future if is_future else rest).append(node)
    return _source(ast.Module([*future, *rest], []))


def _has_docstring(tree: ast.Module) -> bool:
    return ast.get_docstring(tree) is not None


def _bound_at_top(tree: ast.Module) -> dict[str, str]:
    """What a module binds, with what tells two bindings of one name apart."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                found[name] = f"{module}:{alias.name}"
        else:
            stored = (n.id for n in _own_scope(node) if isinstance(n, ast.Name) and not _loads(n))
            names = [getattr(node, "name", ""), *stored]
            found |= {name: ast.unparse(node) for name in names if name}
    return found


def _own_scope(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it that binds names where the node stands: no bodies of functions,
    classes and comprehensions.
    """
    yield node
    scopes = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
    displays = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    if not isinstance(node, scopes | displays):
        for child in ast.iter_child_nodes(node):
            yield from _own_scope(child)


def _source(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _free_names(node: ast.AST) -> set[str]:
    """Names that a definition reads and does not bind itself; roughly, which only moves less."""
    read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _loads(n)}
    quoted = {
        word
        for n in ast.walk(node)
        if isinstance(n, ast.Constant) and isinstance(n.value, str)
        for word in n.value.replace("[", " ").replace("]", " ").replace(".", " ").split()
        if word.isidentifier() and not keyword.iskeyword(word) and word[0].isupper()
    }
    bound = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not _loads(n)}
    bound |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    bound |= {n.name for n in ast.walk(node) if isinstance(n, _DEFINITIONS)}
    return (read - bound) | (quoted & read)


def _loads(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)
