"""torch in text that the program runs or looks up: `eval("nn." + name)`, `"torch.nn.Conv2d"`."""

from __future__ import annotations

import ast
import re

import libcst as cst

from migrate.pipeline import declare, flags
from migrate.pipeline.refusal import Refusal
from migrate.resolve.torch_in_text import described, texts_naming_torch
from migrate.resolve.values import External
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.ast_index import all_nodes, nodes_of

_PATH = re.compile(r"[A-Za-z_]\w*(\.\w+)+")


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages"],
    examples=[
        flags("f = eval('nn.' + self.args)", "text is run that names torch"),
        flags("m = importlib.import_module('torch')", "a module of torch is loaded by its name"),
        flags("name = 'torch.nn.Conv2d'", "names a torch API"),
    ],
)
class TorchInStrings(NodePass):
    """Flags them: no name in the tree says what the text will mean."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        # Dotted names of APIs, in their order.
        self._texts: dict[str, list[ast.Constant]] | None = None
        # Expressions that run text, or load by it, and what it says.
        self._run: dict[ast.expr, tuple[str, str]] | None = None

    def leave_Call(self, original: cst.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        partner = self.partner(original)
        if (
            isinstance(partner, ast.Call)
            and not self._flag_run(partner)
            and self._makes_layers(partner)
        ):
            reason = "the text decides what is called, and nn means MindSpore's in it now"
            step = "look the text up first: {'nn.Upsample': nn.Upsample, ...}"
            self.flag(partner, Refusal(reason, step, "MS317"))
        return updated

    def leave_Subscript(
        self, original: cst.Subscript, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        partner = self.partner(original.value)  # the walk knows it, not the subscript
        if isinstance(partner, ast.expr):
            self._flag_run(partner)
        return updated

    def _flag_run(self, node: ast.expr) -> bool:
        if self._run is None:
            scope = self.context.resolution.scope
            found = texts_naming_torch(scope, self.context.table.roots) if scope else ()
            self._run = {
                node.value if isinstance(node, ast.Subscript) else node: (how, named)
                for node, how, named in found
            }
        if node not in self._run:
            return False
        self.flag(node, Refusal(*described(*self._run[node]), "MS317"))
        return True

    def _makes_layers(self, call: ast.Call) -> bool:
        """`m = eval(m)`, then `m(*args)`, in a file that calls a part of torch by a short name."""
        scope = self.context.resolution.scope
        if _called(call) != "eval" or not call.args or scope is None or self.function is None:
            return False
        if not any(self._names_torch(name) for name in scope.frame.imports if name != "torch"):
            return False
        results = {
            target.id
            for node in all_nodes(self.function)
            if isinstance(node, ast.Assign) and any(part is call for part in all_nodes(node.value))
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        return any(
            isinstance(node, ast.Call)
            and (node.func is call or getattr(node.func, "id", "") in results)
            for node in all_nodes(self.function)
        )

    def leave_SimpleString(
        self, original: cst.SimpleString, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        if self.file.position.annotations:  # a quoted type, which is ported
            return updated
        # Nearly every string is told by its first letters.
        if "torch" in original.value and _PATH.fullmatch(original.value[1:-1]):
            same = self._api_texts().get(original.value[1:-1])
            if same and (node := same.pop(0)) not in self._arguments():
                reason = f"the text {original.value} names a torch API"
                step = "name MindSpore's in its place, or the ported class itself"
                self.flag(node, Refusal(reason, step, "MS317"))
        return updated

    def _arguments(self) -> set[ast.AST]:
        """What torch's own functions are given: their rows say what a text means there."""
        calls = (usage.call for usage in self.context.usages.values() if usage.call is not None)
        return {argument for call in calls for argument in call.args}

    def _names_torch(self, text: str) -> bool:
        """Whether the text begins with a name that stands for torch, or for a part of it."""
        head = re.match(r"\s*(\w+)", text)
        if head is None:
            return False
        scope = self.context.resolution.scope
        value = scope.frame.imports.get(head[1]) if scope else None
        name = value.name if isinstance(value, External) else head[1]
        return name.partition(".")[0] in self.context.table.roots

    def _api_texts(self) -> dict[str, list[ast.Constant]]:
        if self._texts is None:
            self._texts = {}
            scope = self.context.resolution.scope
            strings = [
                node
                for node in (nodes_of(scope.tree, ast.Constant) if scope else ())
                if isinstance(node.value, str) and self._is_api(node.value)
            ]
            for node in sorted(strings, key=lambda found: (found.lineno, found.col_offset)):
                self._texts.setdefault(str(node.value), []).append(node)
        return self._texts

    def _is_api(self, text: str) -> bool:
        known = _PATH.fullmatch(text) and text.partition(".")[0] in self.context.table.roots
        return bool(known) and self.context.table.get(text) is not None


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""
