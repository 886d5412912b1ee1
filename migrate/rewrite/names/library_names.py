"""What a name of torch's becomes by itself: a dtype, a class that is passed on, a quoted type."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import libcst as cst

from migrate.findings import chosen_step
from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.resolve import Usage
from migrate.resolve.held_modules import modules_in
from migrate.resolve.hierarchy import OPTIMIZER
from migrate.resolve.values import External
from migrate.rewrite.calls.plain_calls import is_called_plainly
from migrate.rewrite.calls.signature_cells import signature_helper
from migrate.rewrite.names.getattr_tables import GetattrTable
from migrate.rewrite.names.held_modules import find_held_modules
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.nodes import expression, fill, is_hole_alone
from migrate.syntax.text import code
from migrate.table import Entry
from migrate.table.mint import in_mint, takes_torch_arguments

# What a value of these types is in ported code, where MindSpore has no such type.
_ANNOTATIONS = {"torch.Size": "tuple", "torch.device": "str"}
_OLD_TENSOR = re.compile(r"torch\.(cuda\.)?[A-Z]\w+Tensor")  # torch.FloatTensor

_CONTEXTS = {"torch.amp.autocast": "autocast", "torch.cuda.amp.autocast": "cuda_autocast"}
_CALLABLE = frozenset({"class", "function", "method", "context", "decorator"})


class LibraryNames(FileAccess):
    """Spells the names that rows of the table give, and refuses those that have none."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._beside_old_types = _beside_old_types(self.context.tree, self.context)
        self.held_modules = find_held_modules(self.context.tree, self.context)

    def class_name(self, torch_name: str) -> str:
        entry = self.table.get(torch_name)
        if entry is None or not entry.main.mindspore:
            raise Refusal(f"{torch_name} has no class of its own in MindSpore", "", "MS310")
        return self.spelling.name(entry.main.mindspore)

    def row(self, usage: Usage) -> Entry:
        """The row of a use; where the receiver can be of several types, they must agree."""
        entry = self.table.get(usage.api)
        if entry is None and self._is_namespace(usage.api):
            raise Refusal(
                "which of its members is meant is only known when the program runs",
                chosen_step(usage.api),
                "MS311",
            )
        if entry is None:
            raise Refusal(
                "the mapping table does not know it",
                "look for it with `ms-migrate lookup`",
                "MS303",
            )
        widest = entry
        for other in usage.alternatives:
            row = self.table.get(other)
            if row is not None and len(row.overloads) > len(widest.overloads):
                widest = row  # `step()` and `step(loss)`: the row that has both forms
            if row is None or not _agree(row, entry):
                raise Refusal(
                    f"can be {usage.api} or {other} here, which MindSpore names differently",
                    "handle the types in separate branches",
                    "MS310",
                )
        return widest

    def _is_namespace(self, api: str) -> bool:
        """`getattr(nn, name)`, `nn.__dict__[name]`: a module as a value."""
        return api.removesuffix(".__dict__") in self.table.namespaces

    def is_mint_class(self, torch_name: str) -> bool:
        """mint's classes name their parameters as torch does."""
        owner = self.table.get(torch_name)
        return owner is not None and owner.kind == "class" and bool(owner.main.mint)

    def named(self, usage: Usage, entry: Entry) -> cst.BaseExpression:
        main = entry.main
        if usage.form == "annotation" and _OLD_TENSOR.fullmatch(entry.torch):
            return expression(self.spelling.name("mindspore.Tensor"))
        if usage.form in ("annotation", "type") and entry.torch in _ANNOTATIONS:
            return expression(_ANNOTATIONS[entry.torch])
        if usage.form == "base" and entry.torch == OPTIMIZER:
            return expression(self.spelling.name("helpers.Optimizer"))
        if usage.form == "decorator" and main.emit and is_hole_alone(main.emit):
            return cst.Name("None")  # gives back what it is given
        if (
            entry.kind in ("context", "decorator")
            and not main.portable
            and entry.status != "missing"
        ):
            return self._context(usage, entry)
        if usage.form == "value" and main.emit.startswith("("):
            return fill(main.emit, {}, self.spelling.name)  # _BatchNorm: all that derive from it
        if entry.kind in _CALLABLE and usage.form in ("value", "base"):
            return expression(self.value(usage, entry))
        return self._by_row(usage, entry)

    def _context(self, usage: Usage, entry: Entry) -> cst.BaseExpression:
        """`cast = torch.autocast if amp else nullcontext`: entered wherever the value arrives."""
        if usage.form != "value" or entry.kind != "context":
            return cst.Name("None")
        if entry.torch not in _CONTEXTS:
            raise Refusal(
                f"{entry.torch} is passed on, and where it is entered is not known here",
                "enter it where it is named, or pass contextlib.nullcontext on",
                "MS310",
            )
        return expression(self.spelling.name(f"helpers.{_CONTEXTS[entry.torch]}"))

    def _by_row(self, usage: Usage, entry: Entry) -> cst.BaseExpression:
        """The name that the row gives."""
        main = entry.main
        if main.mint and self.spelling.mint:
            return expression(self.spelling.name(main.mint))
        if main.mindspore:
            return expression(self.spelling.name(main.mindspore))
        if main.helper:
            return expression(self.spelling.name(f"helpers.{main.helper}"))
        if main.emit and "{" not in main.emit:
            return fill(main.emit, {}, self.spelling.name)
        if (
            usage.form in ("type", "annotation")
            and entry.kind == "class"
            and entry.torch.startswith("torch.nn.")
        ):
            return expression(self.value(usage, entry))
        raise Refusal(entry.note or "has no counterpart in MindSpore", entry.way, "MS301")

    def is_library_path(self, node: ast.AST | None) -> bool:
        """`torch.backends.cudnn.benchmark`: a path of names that imports lead to, not a member
        of a value.
        """
        while isinstance(node, ast.Attribute):
            node = node.value
            if modules_in(self.context.type(node), self.table):
                return True  # `self.transforms.Compose`, where the attribute holds a module
        return isinstance(node, ast.Name) and isinstance(self.context.type(node), External)

    def chosen_by_name(
        self, found: GetattrTable, given: list[cst.BaseExpression]
    ) -> cst.BaseExpression:
        """`{"LSTM": helpers.LSTM, "GRU": helpers.GRU}[kind]`, with a default `.get(kind, None)`."""
        parts = []
        for name in found.names:
            entry = self.table.get(f"{found.owner.api}.{name}")
            assert entry is not None
            parts.append(f"{name!r}: {self.value(found.owner, entry)}")
        self.context.ported += 1
        table, texts = f"{{{', '.join(parts)}}}", ", ".join(map(code, given))
        return expression(f"{table}[{texts}]" if len(given) == 1 else f"{table}.get({texts})")

    def value(self, usage: Usage, entry: Entry) -> str:
        """A class or function that is called elsewhere, with torch's arguments."""
        main = entry.main
        if entry.torch == "torch.nn.Module":
            return self.spelling.name("mindspore.nn.Cell")
        if entry.torch == "torch.Tensor" and usage.node in self._beside_old_types:
            return self.spelling.name("helpers.FloatTensor")
        if entry.torch == "torch.Tensor":
            return self.spelling.name("mindspore.Tensor")
        if _OLD_TENSOR.fullmatch(entry.torch):
            return self.spelling.name(f"helpers.{entry.torch.rpartition('.')[2]}")
        if self.spelling.mint and main.mint:
            entry = replace(entry, overloads=tuple(map(in_mint, entry.overloads)))
            main = entry.main
            if takes_torch_arguments(main):
                return self.spelling.name(main.mindspore)
        if usage.form == "value" and is_called_plainly(entry, self.context):
            return self.spelling.name(main.mindspore)
        if main.helper:
            return self.spelling.name(f"helpers.{main.helper}")
        refused = set(main.refuse) - {"out"}
        if len(entry.overloads) == 1 and main.plain and not main.drop and not refused:
            return self.spelling.name(main.mindspore)
        name = signature_helper(entry, self.context, derive=usage.form == "base")
        return self.spelling.name(f"helpers.{name}")


def _agree(row: Entry, other: Entry) -> bool:
    """Two rows write a member alike, or leave the call as it is: `step()` of all schedules."""
    if _member_forms(row) == _member_forms(other):
        return True
    return _is_passed_on(row) and _is_passed_on(other) and _member(row) == _member(other)


def _member(entry: Entry) -> str:
    return entry.torch.rpartition(".")[2]


def _is_passed_on(entry: Entry) -> bool:
    """`{self}.step({epoch})`: arguments go to the method of the same name, as they are written."""
    for form in entry.overloads:
        head, _, rest = form.emit.partition("(")
        holes = [hole.strip("{}") for hole in rest.removesuffix(")").split(", ") if hole]
        names = list(form.signature.names) if form.signature else []
        changed = form.helper or form.rules or form.rename or form.pin
        if changed or head != f"{{self}}.{_member(entry)}" or holes != names[: len(holes)]:
            return False
    return True


def _member_forms(entry: Entry) -> list[tuple[object, ...]]:
    """How a row writes a member, apart from the class it belongs to."""
    return [
        (
            form.mindspore.rpartition(".")[2],
            form.emit,
            form.helper,
            form.params,
            form.rename,
            form.pin,
            form.rules,
        )
        for form in entry.overloads
    ]


def _beside_old_types(tree: ast.Module, context: Context) -> set[ast.AST]:
    """`torch.cuda.FloatTensor if cuda else torch.Tensor`: both make tensors of float32."""
    found: set[ast.AST] = set()
    for node in nodes_of(tree, ast.IfExp):
        uses = [context.usage(part) for part in (node.body, node.orelse)]
        if any(use is not None and _OLD_TENSOR.fullmatch(use.api) for use in uses):
            found |= {use.node for use in uses if use is not None}
    return found
