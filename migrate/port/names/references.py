"""Names and attributes: dtypes, classes passed on, members of tensors and modules."""

from __future__ import annotations

import ast
import copy
import re
from dataclasses import replace

import libcst as cst

from migrate.findings import Finding
from migrate.port.calls.call import Refusal
from migrate.port.calls.signature_cells import signature_helper
from migrate.port.context import Context, is_module_value, marker
from migrate.port.names.class_questions import classes_to_ask_for
from migrate.port.names.looked_up import LookedUp, find_looked_up
from migrate.port.names.quoted import Spelled
from migrate.port.names.recompute_tests import recompute_tests
from migrate.port.names.replaced_data import replaced_later
from migrate.port.names.type_tests import as_membership
from migrate.port.syntax.every_node import every_node
from migrate.port.syntax.join import Joiner
from migrate.port.syntax.nodes import atomic, expression, fill, is_cheap, is_hole_alone
from migrate.port.syntax.text import code
from migrate.port.train_step.freeze import trains
from migrate.port.train_step.kept_gradients import is_gradient
from migrate.resolve import Usage
from migrate.resolve.hierarchy import OPTIMIZER
from migrate.resolve.values import UNKNOWN, Instance, ProjectClass, options_of
from migrate.table import Entry
from migrate.table.mint import in_mint, takes_torch_arguments

# What a value of these types is in ported code, where MindSpore has no such type.
_ANNOTATIONS = {"torch.Size": "tuple", "torch.device": "str"}
_OLD_TENSOR = re.compile(r"torch\.(cuda\.)?[A-Z]\w+Tensor")  # torch.FloatTensor


class References(Joiner):
    """Rewrites every reference that is not itself called."""

    def __init__(self, context: Context, tree: ast.Module) -> None:
        super().__init__(tree)
        self.context = context
        self.spelling = context.spelling
        self.table = context.table
        self._marks: list[list[str]] = [[]]
        self._wrapped: dict[int, cst.BaseExpression] = {}  # with parentheses -> without
        self._kept: list[cst.CSTNode] = []  # ids are only good while the nodes live
        self._annotations = 0
        self._unknown_type = False  # the annotation in hand names what MindSpore does not have
        self._quoted = dict(context.resolution.quoted)
        self._quoted_usages = {
            ast.unparse(part): usage
            for tree in self._quoted.values()
            for part in ast.walk(tree)
            if (usage := context.usage(part)) is not None
        }
        self._recompute_tests = recompute_tests(tree, context)
        self.asked_classes = classes_to_ask_for(tree, context)
        self.looked_up = find_looked_up(tree, context)
        self._namespaces = {id(found.owner.node) for found in self.looked_up.values()}
        self._beside_old_types = _beside_old_types(tree, context)
        self._replaced_later = replaced_later(tree)
        self._raw_targets: set[int] = set()  # `p.data = ...`: becomes ops.assign
        self._raw_data: set[int] = (
            set()
        )  # `.data` before an in-place change: the tensor itself is meant

    def wrapped(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """Fit to stand in a larger expression; `bare` takes the parentheses off again."""
        safe = atomic(node)
        if safe is not node:
            self._wrapped[id(safe)] = node
            self._kept.append(safe)
        return safe

    def bare(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """Without the parentheses that only a larger expression would need."""
        return self._wrapped.get(id(node), node)

    # Findings -----------------------------------------------------------------------------------

    def flag(self, node: ast.AST | None, refusal: Refusal, api: str = "") -> Finding:
        message = f"{api}: {refusal.message}" if api else refusal.message
        finding = self.context.flag(node, refusal.code, message, refusal.next_step, api)
        self._marks[-1].append(marker(finding))
        return finding

    # Quoted annotations -------------------------------------------------------------------------

    def visit_Annotation(self, node: cst.Annotation) -> None:
        self._annotations += 1
        self._unknown_type = False

    def leave_Annotation(
        self, original_node: cst.Annotation, updated_node: cst.Annotation
    ) -> cst.Annotation:
        self._annotations -= 1
        if not self._unknown_type:
            return updated_node
        # As a whole: `"torch.jit.Final"[int]` and `"torch.X" | None` are errors when Python runs.
        text = code(updated_node.annotation.with_changes(lpar=[], rpar=[]))
        return updated_node.with_changes(annotation=cst.SimpleString(repr(" ".join(text.split()))))

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        """`x: "torch.Tensor"` is an annotation like any other."""
        text = original_node.evaluated_value if self._annotations else None
        tree = self._quoted.get(text) if isinstance(text, str) else None
        if tree is None:
            return updated_node
        new = Spelled(self).visit(copy.deepcopy(tree))
        # Single quotes inside need double ones outside, and the other way round.
        quote = original_node.quote
        return updated_node.with_changes(
            value=quote
            + ast.unparse(new).replace(quote[0], "'" if quote[0] == '"' else '"')
            + quote
        )

    def quoted_name(self, node: ast.expr) -> str | None:
        usage = self._quoted_usages.get(ast.unparse(node))
        if usage is None:
            return None
        try:
            self.context.ported += 1
            return code(self._named(usage, self.row(usage)))
        except Refusal:
            return None

    # Names --------------------------------------------------------------------------------------

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        usage = self.context.usage(self.partner(original_node))
        if usage is None or usage.form == "call" or id(usage.node) in self._namespaces:
            return updated_node
        return self._reference(usage, updated_node, None)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        partner = self.partner(original_node)
        if id(original_node) in self._raw_data:
            self.context.ported += self.context.usage(partner) is not None
            return updated_node.value
        if id(original_node) in self._raw_targets:
            return updated_node
        usage = self.context.usage(partner)
        if usage is None:
            return self._plain_attribute(partner, updated_node)
        if usage.form in ("call", "unknown") or id(usage.node) in self._namespaces:
            return updated_node
        receiver = (
            updated_node.value
            if usage.form == "attribute" and not self._is_library_path(partner)
            else None
        )
        return self._reference(usage, updated_node, receiver)

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        names = (self._own_class, self._value)
        test = as_membership(self.partner(original_node), updated_node, self.context, names)
        return updated_node if test is None else test

    def _own_class(self, usage: Usage, entry: Entry) -> str:
        return self._class_name(entry.torch)

    def _is_library_path(self, node: ast.AST | None) -> bool:
        """`torch.backends.cudnn.benchmark`: a path of names that imports lead to, not a member
        of a value.
        """
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name):
            return False
        value = self.context.type(node)
        return type(value).__name__ == "External"

    def _plain_attribute(
        self, partner: ast.AST | None, updated: cst.Attribute
    ) -> cst.BaseExpression:
        if (
            updated.attr.value == "forward"
            and isinstance(partner, ast.Attribute)
            and is_module_value(self.context.type(partner.value))
        ):
            return updated.with_changes(attr=cst.Name("construct"))
        if id(partner) in self.asked_classes:  # m.__class__
            return self.class_asked_of(updated.value)
        if isinstance(partner, ast.Attribute) and self._may_be_setting(partner):
            setting = self.spelling.name("helpers.setting_of")
            return expression(f"{setting}({code(updated.value)}, {partner.attr!r})")
        return updated

    def _may_be_setting(self, node: ast.Attribute) -> bool:
        """`model.fc.in_features` of a model that nobody knows: MindSpore's Dense has other names.

        A plain name before it is more likely a table of options than a layer.
        """
        return (
            node.attr in ("in_features", "out_features", "num_embeddings", "embedding_dim")
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Attribute | ast.Subscript)
            and ast.unparse(node.value).partition(".")[0] not in ("args", "cfg", "config", "opt")
            and not ast.unparse(node.value).endswith(("args", "cfg", "config", "hparams", "opt"))
            and self.context.type(node.value) is UNKNOWN
        )

    def class_asked_of(self, layer: cst.BaseExpression) -> cst.BaseExpression:
        return expression(f"{self.spelling.name('helpers.torch_class')}({code(layer)})")

    def _reference(
        self, usage: Usage, node: cst.Name | cst.Attribute, receiver: cst.BaseExpression | None
    ) -> cst.BaseExpression:
        try:
            if usage.alternatives and receiver is not None and is_cheap(receiver):
                self.context.ported += 1
                return self._by_type(usage, receiver, node)
            entry = self.row(usage)
            new = (
                self._member(usage, entry, receiver, node)
                if receiver is not None
                else self._named(usage, entry)
            )
        except Refusal as refusal:
            if usage.form == "annotation" and self._annotations:
                self._unknown_type = True
                return expression(usage.api)
            if usage.form == "annotation":
                return cst.SimpleString(repr(usage.api))
            self.flag(usage.node, refusal, usage.api)
            return node if receiver is not None else expression(self.spelling.keep_torch(usage.api))
        self.context.ported += 1
        return new

    def _keeps_gradient(self, node: ast.AST) -> bool:
        """`p.grad` of a parameter: a training step of this program puts it there."""
        return is_gradient(node, self.context) and trains(self.context.modules.project)

    def _is_own_optimizer(self, node: ast.AST) -> bool:
        """`self.state` in an optimizer that the program writes itself, or of such a one."""
        value = self.context.type(getattr(node, "value", None))
        return any(
            isinstance(option, Instance) and isinstance(option.cls, ProjectClass)
            for option in options_of(value)
        )

    def _by_type(
        self, usage: Usage, receiver: cst.BaseExpression, node: cst.Name | cst.Attribute
    ) -> cst.BaseExpression:
        """A member whose MindSpore name depends on the class: chosen where the program runs."""
        groups: dict[str, list[str]] = {}
        members: dict[str, cst.BaseExpression] = {}
        for api in (usage.api, *usage.alternatives):
            entry = self.table.get(api)
            if entry is None:
                raise Refusal("the mapping table does not know it", "", "MS303")
            member = self._member(usage, entry, receiver, node)
            members[code(member)] = member
            groups.setdefault(code(member), []).append(api.rpartition(".")[0])
        # The form that most classes share goes without a test.
        texts = sorted(groups, key=lambda text: len(groups[text]))
        result = members[texts[-1]]
        for text in reversed(texts[:-1]):
            classes = [self._class_name(name) for name in groups[text]]
            kinds = classes[0] if len(classes) == 1 else f"({', '.join(classes)})"
            test = expression(f"isinstance({code(receiver)}, {kinds})")
            result = cst.IfExp(test=test, body=members[text], orelse=result)
        return self.wrapped(result)

    def _class_name(self, torch_name: str) -> str:
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
                "list what it can be: {'ReLU': nn.ReLU, ...}[name]",
                "MS311",
            )
        if entry is None:
            raise Refusal(
                "the mapping table does not know it",
                "look for it with `ms-migrate lookup`",
                "MS303",
            )
        for other in usage.alternatives:
            row = self.table.get(other)
            if row is None or _member_forms(row) != _member_forms(entry):
                raise Refusal(
                    f"can be {usage.api} or {other} here, which MindSpore names differently",
                    "treat the types in branches of their own",
                    "MS310",
                )
        return entry

    def _is_namespace(self, api: str) -> bool:
        """`getattr(nn, name)`, `nn.__dict__[name]`: a module as a value."""
        return api.removesuffix(".__dict__") in self.table.namespaces

    def _is_inherited(self, usage: Usage) -> bool:
        """An attribute of `self` that the helper gives to the classes which derive from it."""
        owner, _, name = usage.api.rpartition(".")
        holder = getattr(usage.node, "value", None)
        own = isinstance(holder, ast.Name) and holder.id == "self"
        return own and self.context.helpers.gives(owner.rpartition(".")[2], name)

    def _is_given_here(self, node: ast.AST) -> bool:
        """`layer.type = "Conv"`: an attribute of the program's own, named like a method."""
        scope = self.context.resolution.scope
        return isinstance(node, ast.Attribute) and any(
            isinstance(other, ast.Attribute)
            and other.attr == node.attr
            and isinstance(other.ctx, ast.Store)
            for other in (every_node(scope.tree) if scope else ())
        )

    def _member(
        self,
        usage: Usage,
        entry: Entry,
        receiver: cst.BaseExpression,
        node: cst.Name | cst.Attribute,
    ) -> cst.BaseExpression:
        main = entry.main
        if id(usage.node) in self._replaced_later:
            return cst.Call(func=cst.Attribute(value=atomic(receiver), attr=cst.Name("copy")))
        if not main.portable and self._is_inherited(usage):
            return node
        if usage.api == "torch.Tensor.grad" and self._keeps_gradient(usage.node):
            return node
        if id(usage.node) in self._recompute_tests:
            return expression("self.training")
        if usage.api == f"{OPTIMIZER}.state" and self._is_own_optimizer(usage.node):
            return node
        if self.spelling.mint and self._is_mint_class(entry.torch.rpartition(".")[0]):
            return node
        if main.emit and entry.kind == "method":
            if self._is_given_here(usage.node):
                return node
            raise Refusal(
                "the method itself is passed on, and MindSpore has no such method",
                "pass a function that calls it",
                "MS311",
            )
        if main.emit:
            if main.emit.count("{self}") > 1 and not is_cheap(receiver):
                raise Refusal(
                    "the layer is named twice in MindSpore's form and would be computed twice",
                    "give it a name first",
                    "MS313",
                )
            return fill(main.emit, {"self": receiver}, self.spelling.name)
        if main.mindspore and entry.kind == "attribute":
            return cst.Attribute(
                value=atomic(receiver), attr=cst.Name(main.mindspore.rpartition(".")[2])
            )
        if entry.kind == "method" and main.plain:
            # A bound method passed on: only where nothing but the name changes.
            return cst.Attribute(
                value=atomic(receiver), attr=cst.Name(main.mindspore.rpartition(".")[2])
            )
        raise Refusal(entry.note or "has no counterpart in MindSpore", entry.way, "MS301")

    def _is_mint_class(self, torch_name: str) -> bool:
        """mint's classes name their parameters as torch does."""
        owner = self.table.get(torch_name)
        return owner is not None and owner.kind == "class" and bool(owner.main.mint)

    def _named(self, usage: Usage, entry: Entry) -> cst.BaseExpression:
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
            return cst.Name("None")
        if usage.form == "value" and main.emit.startswith("("):
            return fill(main.emit, {}, self.spelling.name)  # _BatchNorm: all that derive from it
        if entry.kind in ("class", "function", "method", "context", "decorator") and usage.form in (
            "value",
            "base",
        ):
            return expression(self._value(usage, entry))
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
            return expression(self._value(usage, entry))
        raise Refusal(entry.note or "has no counterpart in MindSpore", entry.way, "MS301")

    def chosen_by_name(self, found: LookedUp, key: cst.BaseExpression) -> cst.BaseExpression:
        """`{"LSTM": helpers.LSTM, "GRU": helpers.GRU}[kind]`"""
        parts = []
        for name in found.names:
            entry = self.table.get(f"{found.owner.api}.{name}")
            assert entry is not None
            parts.append(f"{name!r}: {self._value(found.owner, entry)}")
        self.context.ported += 1
        return expression(f"{{{', '.join(parts)}}}[{code(key)}]")

    def _value(self, usage: Usage, entry: Entry) -> str:
        """A class or function that is called elsewhere, with torch's arguments."""
        main = entry.main
        if entry.torch == "torch.nn.Module":
            return self.spelling.name("mindspore.nn.Cell")
        if entry.torch == "torch.Tensor" and id(usage.node) in self._beside_old_types:
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
        if main.helper:
            return self.spelling.name(f"helpers.{main.helper}")
        refused = set(main.refuse) - {"out"}
        if len(entry.overloads) == 1 and main.plain and not main.drop and not refused:
            return self.spelling.name(main.mindspore)
        name = signature_helper(entry, self.context, derive=usage.form == "base")
        return self.spelling.name(f"helpers.{name}")


def _beside_old_types(tree: ast.Module, context: Context) -> set[int]:
    """`torch.cuda.FloatTensor if cuda else torch.Tensor`: both make tensors of float32."""
    found: set[int] = set()
    for node in every_node(tree):
        if isinstance(node, ast.IfExp):
            uses = [context.usage(part) for part in (node.body, node.orelse)]
            if any(use is not None and _OLD_TENSOR.fullmatch(use.api) for use in uses):
                found |= {id(use.node) for use in uses if use is not None}
    return found


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
