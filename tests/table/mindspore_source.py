"""Read MindSpore's public names from its source text: what exists, with which parameters.

Nothing is imported, so any release can be read from an unpacked wheel, and all of them at once.
Many functions only say `*args, **kwargs` and hand over to C++: their docstring then states the
forms they take, and so do the docstrings that MindSpore attaches to Tensor's methods.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

NAMESPACES = (
    "mindspore",
    "mindspore.amp",
    "mindspore.common.initializer",
    "mindspore.communication",
    "mindspore.communication.comm_func",
    "mindspore.dataset",
    "mindspore.dataset.audio",
    "mindspore.dataset.text",
    "mindspore.dataset.transforms",
    "mindspore.dataset.vision",
    "mindspore.experimental.optim",
    "mindspore.experimental.optim.lr_scheduler",
    "mindspore.hal",
    "mindspore.mint",
    "mindspore.mint.distributed",
    "mindspore.mint.linalg",
    "mindspore.mint.nn",
    "mindspore.mint.nn.functional",
    "mindspore.mint.optim",
    "mindspore.mint.special",
    "mindspore.nn",
    "mindspore.numpy",
    "mindspore.ops",
    "mindspore.profiler",
    "mindspore.runtime",
    "mindspore.scipy.linalg",
    "mindspore.train",
)
CLASSES = ("mindspore.Parameter", "mindspore.Tensor", "mindspore.nn.Cell")
ANY = "?"  # parameters that the source does not tell
_FORM = re.compile(r"^\s*\.\. (?:method|function):: (?:\w+\.)*(\w+)\((.*)\)\s*(?:->.*)?$", re.M)
_PLATFORMS = re.compile(r"Supported Platforms:\s*\n(?:\s*\n)*((?:\s*``\w+``.*\n?)+)")


@dataclass(frozen=True, slots=True)
class Definition:
    """One public name: its parameter lists (one for each form) and its docstring."""

    forms: tuple[str, ...] = ()  # empty: not callable, or nobody says how
    doc: str = ""

    @property
    def platforms(self) -> tuple[str, ...]:
        """The devices that the docstring names for some form; empty when it names none."""
        lines = _PLATFORMS.findall(self.doc)
        return tuple(dict.fromkeys(d for line in lines for d in re.findall(r"``(\w+)``", line)))


@dataclass(slots=True)
class _Module:
    name: str
    path: Path
    tree: ast.Module
    bindings: dict[str, ast.AST]
    stars: list[str]


class Source:
    """The Python files of one MindSpore release; `root` is the folder that holds `mindspore`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[str, _Module | None] = {}

    def names(self) -> Iterator[tuple[str, Definition]]:
        """Every public name of NAMESPACES, and every public member of CLASSES."""
        for namespace in NAMESPACES:
            module = self._module(namespace)
            for name in sorted(self._public(module)) if module else ():
                found = self.find(f"{namespace}.{name}")
                if found is not None:
                    yield f"{namespace}.{name}", found
        for owner in CLASSES:
            for name in sorted(self._members(owner)):
                found = self.find(f"{owner}.{name}")
                if found is not None:
                    yield f"{owner}.{name}", found

    @cache  # noqa: B019 (one release lives as long as its process)
    def find(self, dotted: str) -> Definition | None:
        """What stands behind a dotted name; None when there is no such name."""
        node = self._node(dotted)
        if node is None:
            owner, _, member = dotted.rpartition(".")
            return self._member(owner, member) if owner.count(".") else None
        home, found = node
        if isinstance(found, ast.ClassDef):
            return self._class(home, found)
        if isinstance(found, ast.FunctionDef):
            return _function(found)
        return Definition()

    # Modules and names ------------------------------------------------------------------------

    def _module(self, name: str) -> _Module | None:
        if name not in self._modules:
            base = self.root.joinpath(*name.split("."))
            path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
            self._modules[name] = _read(name, path) if path.is_file() else None
        return self._modules[name]

    def _node(self, dotted: str, depth: int = 0) -> tuple[_Module, ast.AST] | None:
        """The definition that a dotted path leads to, through every re-export."""
        owner, _, name = dotted.rpartition(".")
        module = self._module(owner)
        if module is None or depth > 12:
            return None
        found = module.bindings.get(name)
        if found is None:
            if not name.startswith("_"):
                for star in reversed(module.stars):
                    exported = self._exported(star)
                    if exported is None or name in exported:
                        answer = self._node(f"{star}.{name}", depth + 1)
                        if answer is not None:
                            return answer
            return (self._module(dotted), ast.Module([], [])) if self._module(dotted) else None  # type: ignore[return-value]
        if isinstance(found, ast.ImportFrom):
            base = _absolute(module, found)
            original = next(a.name for a in found.names if (a.asname or a.name) == name)
            answer = self._node(f"{base}.{original}", depth + 1)
            # A name out of a compiled module exists, though nothing can be said of it.
            return answer or ((module, found) if self._module(base) is None else None)
        if isinstance(found, ast.Name):
            return self._node(f"{owner}.{found.id}", depth + 1) or (module, found)
        if isinstance(found, ast.Attribute):
            return self._attribute(module, found, depth) or (module, found)
        return module, found

    def _attribute(
        self, module: _Module, node: ast.Attribute, depth: int
    ) -> tuple[_Module, ast.AST] | None:
        """`abs = ops.abs`: the path on the right, from the names that this module has."""
        path = ast.unparse(node)
        first, _, rest = path.partition(".")
        if path.startswith("mindspore."):
            return self._node(path, depth + 1)
        bound = module.bindings.get(first)
        if isinstance(bound, ast.ImportFrom):
            original = next(a.name for a in bound.names if (a.asname or a.name) == first)
            return self._node(f"{_absolute(module, bound)}.{original}.{rest}", depth + 1)
        return None

    def _public(self, module: _Module, depth: int = 0) -> set[str]:
        names = {name for name in module.bindings if not name.startswith("_")}
        for star in module.stars if depth < 8 else ():
            inner = self._module(star)
            if inner is not None:
                exported = self._exported(star)
                names |= self._public(inner, depth + 1) if exported is None else exported
        return {name for name in names if not self._is_outside(module, name)}

    def _is_outside(self, module: _Module, name: str) -> bool:
        """Helpers of other packages that a module happens to import."""
        found = module.bindings.get(name)
        if isinstance(found, ast.Import):
            return True
        return isinstance(found, ast.ImportFrom) and not _absolute(module, found).startswith(
            "mindspore"
        )

    @cache  # noqa: B019
    def _exported(self, name: str) -> frozenset[str] | None:
        """`__all__` as far as the text tells it; None when there is none."""
        module = self._module(name)
        if module is None or "__all__" not in {
            target.id
            for node in module.tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }:
            return None
        names: set[str] = set()
        known: set[str] | None
        for node in module.tree.body:
            value: ast.AST | None = None
            if isinstance(node, ast.Assign | ast.AugAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                value = node.value if ast.unparse(target) == "__all__" else None
            elif (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Call)
                and ast.unparse(node.value.func) in ("__all__.extend", "__all__.append")
            ):
                value = node.value.args[0]
            if value is not None:
                known = self._listed(module, value)
                if known is None:
                    return None  # computed: whatever is public may be meant
                names |= known
        return frozenset(names)

    def _listed(self, module: _Module, value: ast.AST | None) -> set[str] | None:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return {value.value}
        if isinstance(value, ast.List | ast.Tuple):
            return {e.value for e in value.elts if isinstance(e, ast.Constant)}
        if isinstance(value, ast.BinOp):
            left, right = self._listed(module, value.left), self._listed(module, value.right)
            return None if left is None or right is None else left | right
        if isinstance(value, ast.Name):
            return self._listed(module, module.bindings.get(value.id))
        if isinstance(value, ast.Attribute) and value.attr == "__all__":
            inner = ast.unparse(value.value)
            bound = module.bindings.get(inner)
            base = _absolute(module, bound) if isinstance(bound, ast.ImportFrom) else module.name
            exported = self._exported(f"{base}.{inner}")
            return None if exported is None else set(exported)
        return None

    # Classes ----------------------------------------------------------------------------------

    def _bases(self, home: _Module, node: ast.ClassDef) -> Iterator[tuple[_Module, ast.ClassDef]]:
        """The class and those it derives from, nearest first."""
        yield home, node
        for base in node.bases:
            found = self._node(f"{home.name}.{ast.unparse(base)}") or (
                self._attribute(home, base, 0) if isinstance(base, ast.Attribute) else None
            )
            if found is not None and isinstance(found[1], ast.ClassDef):
                yield from self._bases(found[0], found[1])

    def _class(self, home: _Module, node: ast.ClassDef) -> Definition:
        doc = ast.get_docstring(node) or ""
        for _, base in self._bases(home, node):
            for item in base.body:
                if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                    return Definition((_parameters(item, bound=True),), doc)
        return Definition((ANY,), doc)

    def _members(self, dotted: str) -> set[str]:
        found = self._node(dotted)
        if found is None or not isinstance(found[1], ast.ClassDef):
            return set()
        names = {
            item.name
            for _, base in self._bases(found[0], found[1])
            for item in base.body
            if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")
        }
        if dotted == "mindspore.Tensor":
            names |= {name for name in self._tensor_methods if not name.startswith("_")}
        return names

    def _member(self, owner: str, name: str) -> Definition | None:
        found = self._node(owner)
        if found is None or not isinstance(found[1], ast.ClassDef):
            return None
        chain = list(self._bases(found[0], found[1]))
        tensor = any(base.name == "Tensor" for _, base in chain)
        if tensor and name in self._tensor_methods:
            return self._tensor_methods[name]
        written = re.compile(rf"self\.{name}\b[^=\n]*=|register_\w+\(\s*['\"]{name}['\"]")
        for home, base in chain:
            for item in base.body:
                if isinstance(item, ast.FunctionDef) and item.name == name:
                    doc = ast.get_docstring(item) or ""
                    if any("property" in ast.unparse(d) for d in item.decorator_list):
                        return Definition((), doc)
                    return Definition((_parameters(item, bound=True),), doc)
                targets = getattr(item, "targets", None) or [getattr(item, "target", None)]
                if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                    return Definition()
            lines = home.path.read_text(encoding="utf-8").splitlines()
            if written.search("\n".join(lines[base.lineno - 1 : base.end_lineno])):
                return Definition()
        return None

    @cached_property
    def _tensor_methods(self) -> dict[str, Definition]:
        """Methods that C++ gives to Tensor: a list of their names, and docstrings apart."""
        names = self._module("mindspore.common._tensor_cpp_method")
        docs = self._module("mindspore.common._tensor_docs")
        listed = names.bindings.get("tensor_cpp_methods") if names else None
        listing = self._listed(names, listed) if names else None
        found = dict.fromkeys(listing or (), Definition((ANY,)))
        for node in docs.tree.body if docs else ():
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                name, doc = (
                    a.value if isinstance(a, ast.Constant) else "" for a in node.value.args
                )
                found[name] = Definition(_forms(name, doc) or _described(doc), doc)
        return found


@cache
def installed() -> Source:
    """The release that is installed here, found without importing it."""
    spec = find_spec("mindspore")
    assert spec is not None and spec.origin is not None
    return Source(Path(spec.origin).parents[1])


# Reading --------------------------------------------------------------------------------------


def _read(name: str, path: Path) -> _Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = _Module(name, path, tree, {}, [])
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            module.bindings[node.name] = node
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    module.stars.append(_absolute(module, node))
                else:
                    module.bindings[alias.asname or alias.name] = node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                module.bindings[alias.asname or alias.name.partition(".")[0]] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(part, ast.Name):
                        module.bindings[part.id] = node.value
        elif isinstance(node, ast.If | ast.Try):
            pending = [*node.body, *node.orelse, *pending]
            pending += [s for h in getattr(node, "handlers", ()) for s in h.body]
    return module


def _absolute(module: _Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    if module.path.name != "__init__.py":
        parts.pop()
    parts = parts[: len(parts) - (node.level - 1)]
    return ".".join([*parts, node.module] if node.module else parts)


def _function(node: ast.FunctionDef) -> Definition:
    doc = ast.get_docstring(node) or ""
    parameters = _parameters(node)
    if parameters == "*args, **kwargs":
        return Definition(_forms(node.name, doc) or _described(doc), doc)
    return Definition((parameters,), doc)


def _parameters(node: ast.FunctionDef, *, bound: bool = False) -> str:
    """The parameter list as text, without annotations, and without the receiver if bound."""
    arguments = node.args
    for argument in (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        *(a for a in (arguments.vararg, arguments.kwarg) if a),
    ):
        argument.annotation = None
    text = ast.unparse(arguments)
    static = any(ast.unparse(d) == "staticmethod" for d in node.decorator_list)
    if bound and not static:
        text = text.partition(", ")[2]
    return text


def _forms(name: str, doc: str) -> tuple[str, ...]:
    """Parameter lists that a docstring states: on its first line, and for further forms."""
    first = re.match(r"\s*(\w+)\((.*?)\)\s*(?:->.*)?$", doc.strip().partition("\n")[0])
    lists = [first[2]] if first else []
    lists += [text for other, text in _FORM.findall(doc) if other == name]
    kept: dict[str, None] = {}
    for text in lists:
        text = re.sub(r"(\*\w+), \*,", r"\1,", text)  # what follows is by keyword anyway
        try:
            node = ast.parse(f"def f({text}): ...").body[0]
        except SyntaxError:
            continue
        assert isinstance(node, ast.FunctionDef)
        kept[_parameters(node)] = None
    return tuple(kept)


def _described(doc: str) -> tuple[str, ...]:
    """The parameters that a docstring explains, where it states no form."""
    parts: list[str] = []
    for title, star in (("Args", ""), ("Keyword Args", "*")):
        section = re.search(rf"^{title}:\n((?:(?:    .*)?\n)+)", doc, re.M)
        if section is None:
            continue
        parts += [star] if star else []
        for item in re.split(r"\n(?=    \w)", section[1].strip("\n")):
            name = re.match(r"\s*(\w+) ?\((.*?)\)(?= ?:)", item)
            default = re.search(r"Default: ?``(.*?)``", item)
            if name is None or not (default or "optional" not in name[2]):
                return (ANY,)
            parts.append(f"{name[1]}={default[1]}" if default else name[1])
    try:
        node = ast.parse(f"def f({', '.join(parts)}): ...").body[0]
    except SyntaxError:
        return (ANY,)
    assert isinstance(node, ast.FunctionDef)
    return (_parameters(node),) if parts else (ANY,)
