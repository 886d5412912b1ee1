"""Imports: torch's go, MindSpore's come where the first of them stood."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst
from libcst.helpers import get_full_name_for_node

from migrate.flow.project_flags import makes_optimizers
from migrate.pipeline import becomes, declare
from migrate.resolve.import_binding import absolute_name
from migrate.resolve.modules import Modules
from migrate.resolve.values import External
from migrate.rewrite.names.guarded_imports import guarded_imports
from migrate.rewrite.names.torch_left import TorchLeft
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.statements.suites import is_gone, without_empty
from migrate.rewrite.steps.step_state import StepState
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages"],
    after={"insert_steps": "the names that steps need are known then"},
    examples=[
        becomes(
            """
            def first(x: torch.Tensor):
                import torch.nn.functional as F
                return F.relu(x)
            """,
            """
            def first(x: Tensor):
                return ops.relu(x)
            """,
        ),
    ],
)
class Imports(NodePass):
    """Rewrites imports, and places the new ones."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._steps = file.shared(StepState)
        self.spelling.guarded.update(
            guarded_imports(self.context.tree, self.table, self.modules.is_library)
        )

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def leave_Import(
        self, original: cst.Import, updated: cst.Import
    ) -> cst.Import | cst.RemovalSentinel:
        self._flag_import(original)
        kept = [alias for alias in updated.names if not self._is_torch(_full_name(alias.name))]
        if len(kept) == len(updated.names):
            return updated
        if not kept:
            return cst.RemoveFromParent()
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated.with_changes(names=kept)

    def leave_ImportFrom(
        self, original: cst.ImportFrom, updated: cst.ImportFrom
    ) -> cst.ImportFrom | cst.RemovalSentinel:
        name = self._absolute(original)
        if self._is_torch(name):
            return self._left_in_guard(name, updated)
        self._flag_import(original)
        updated = self._relative(name, updated)
        if isinstance(updated.names, cst.ImportStar):
            return updated
        kept = [
            alias
            for alias in updated.names
            if not self._passes_torch_on(name, _full_name(alias.name))
        ]
        if len(kept) == len(updated.names):
            return updated
        if not kept:
            return cst.RemoveFromParent()
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated.with_changes(names=kept)

    def _left_in_guard(
        self, module: str, node: cst.ImportFrom
    ) -> cst.ImportFrom | cst.RemovalSentinel:
        """torch's go, but for those that MindSpore lacks and the program can do without."""
        if isinstance(node.names, cst.ImportStar):
            return cst.RemoveFromParent()
        guarded = self.spelling.guarded
        kept = [name for name in node.names if f"{module}.{_full_name(name.name)}" in guarded]
        if not kept:
            return cst.RemoveFromParent()
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return node.with_changes(names=kept)

    def _flag_import(self, node: cst.Import | cst.ImportFrom) -> None:
        """What does not come along stays as it is; its uses are the reader's to replace."""
        if not self.context.import_findings:
            return
        form = ast.dump(ast.parse(code(node)).body[0])
        same = self.context.import_findings.get(form)
        for statement, refusal, api in same.pop(0) if same else ():
            self.flag(statement, refusal, api)

    def _relative(self, name: str, node: cst.ImportFrom) -> cst.ImportFrom:
        """`from pkg.blocks import X` inside pkg: the ported package may have another name.

        A script keeps its absolute imports, since it is not run as part of a package.
        """
        source = self.context.resolution.source
        parts, home = name.split("."), source.package.split(".")
        if node.relative or not source.package or parts[0] != home[0] or self._is_script:
            return node
        if not self.modules.is_asked(name):
            return node
        shared = 0
        while shared < min(len(parts), len(home)) and parts[shared] == home[shared]:
            shared += 1
        dots = [cst.Dot()] * (len(home) - shared + 1)
        rest = ".".join(parts[shared:])
        module = cst.parse_expression(rest) if rest else None
        assert module is None or isinstance(module, (cst.Name, cst.Attribute))
        return node.with_changes(relative=dots, module=module)

    @property
    def _is_script(self) -> bool:
        return any("__main__" in line for line in self.context.lines)

    def _absolute(self, node: cst.ImportFrom) -> str:
        module = get_full_name_for_node(node.module) if node.module else None
        return absolute_name(
            ast.ImportFrom(module=module, names=[], level=len(node.relative)),
            self.context.resolution.source,
        )

    def _is_torch(self, name: str) -> bool:
        return self.modules.is_library(name)

    def _passes_torch_on(self, module: str, name: str) -> bool:
        """`from compat import nn`, where compat itself imported torch's: this file imports its
        own now.
        """
        source = self.context.resolution.source
        if self.modules.project.find(module, source) is None:
            return False
        scope = self.modules.load(module, source)
        value = scope.frame.imports.get(name) if scope else None
        return isinstance(value, External) and self._is_torch(value.name)

    @property
    def modules(self) -> Modules:
        return self.context.modules

    # Placing the new imports ----------------------------------------------------------------------

    def leave_Module(self, original: cst.Module, updated: cst.Module) -> cst.Module:
        left = TorchLeft(updated, self.spelling.torch)
        body = list(updated.body)
        starts = self._start_calls(original)
        there = _plain_imports(body)
        lines = [
            line for line in import_lines(self.spelling.imports, left.at_top) if line not in there
        ]
        if lines:
            _add_imports([cst.parse_statement(line) for line in lines], body)
        kept, rest = without_empty(body)
        if starts:
            first, *rest_of_starts = [cst.parse_statement(f"{name}()") for name in starts]
            first = first.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
            at = _after_helpers(kept)
            kept[at:at] = [first, *rest_of_starts]
        return left.imported(updated.with_changes(body=kept, footer=[*rest, *updated.footer]))

    def _start_calls(self, original: cst.Module) -> list[str]:
        """The helpers that the file calls once it is imported; those that it calls already, left
        by an earlier port, are not called again.
        """
        # What is recorded is this file's business: others that share the helpers may compile.
        starts = []
        if self._steps.plans.tape:
            makes = makes_optimizers(self.modules.project)
            starts = ["helpers.record" if makes else "helpers.start_recording"]
        starts += ["helpers.start_in_training_mode"] if self._steps.plans.switches.all_cells else []
        called = _called_first(original) if starts else set()
        return [self.spelling.name(n) for n in starts if n.partition(".")[2] not in called]


def _plain_imports(body: Sequence[cst.BaseStatement]) -> set[str]:
    """The statements `import a.b` at the top of a file, as text."""
    return {
        code(part)
        for statement in body
        if isinstance(statement, cst.SimpleStatementLine)
        for part in statement.body
        if isinstance(part, cst.Import)
    }


_Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


def _add_imports(new: list[_Statement], body: list[_Statement]) -> None:
    """Where an import of torch stood, with its comments; else behind the other imports."""
    at = next((i for i, statement in enumerate(body) if is_gone(statement)), None)
    if at is None:
        at = _after_imports(body)
        body[at:at] = new
        return
    place = body[at]
    assert isinstance(place, cst.SimpleStatementLine)
    head = list(place.leading_lines)
    trailing = place.trailing_whitespace.comment
    if trailing is not None:
        head.append(cst.EmptyLine(comment=trailing))
    new[0] = new[0].with_changes(leading_lines=head)
    body[at : at + 1] = new


def _called_first(module: cst.Module) -> set[str]:
    """What the top level of a file calls of an earlier port's helpers: `helpers.record()`."""
    return {
        part.value.func.attr.value
        for statement in module.body
        if isinstance(statement, cst.SimpleStatementLine)
        for part in statement.body
        if isinstance(part, cst.Expr) and isinstance(part.value, cst.Call) and not part.value.args
        if isinstance(part.value.func, cst.Attribute)
    }


def _full_name(node: cst.BaseExpression) -> str:
    return get_full_name_for_node(node) or ""


def _after_imports(body: Sequence[cst.BaseStatement]) -> int:
    """Behind the docstring and the last of the leading imports."""
    at = 0
    for index, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine):
            break
        small = statement.body[0] if statement.body else None
        is_docstring = (
            index == 0
            and isinstance(small, cst.Expr)
            and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))
        )
        if isinstance(small, (cst.Import, cst.ImportFrom)) or is_docstring:
            at = index + 1
        else:
            break
    return at


def _after_helpers(body: Sequence[cst.BaseStatement]) -> int:
    """Behind the leading imports, and behind that of the helpers wherever it stands."""
    own = [
        index + 1
        for index, statement in enumerate(body)
        if isinstance(statement, cst.SimpleStatementLine)
        if "ms_migrate_helpers" in code(statement)
    ]
    return max([_after_imports(body), *own])


def import_lines(imports: dict[str, None], torch: set[str]) -> list[str]:
    """Import statements in a settled order, names of one module on one line."""
    plain = sorted(line for line in imports if line.startswith("import "))
    grouped: dict[str, list[str]] = {}
    for line in imports:
        if line.startswith("from "):
            module, _, names = line.removeprefix("from ").partition(" import ")
            grouped.setdefault(module, []).append(names)
    # Libraries first, then this package's own helper module.
    plain += [f"import {package}" for package in sorted(torch)]
    plain.sort(key=lambda line: ("ms_migrate_helpers" in line, line))
    own = [line for line in plain if "ms_migrate_helpers" in line]
    libraries = [line for line in plain if line not in own]
    froms = [
        f"from {module} import {', '.join(sorted(names, key=_import_order))}"
        for module, names in sorted(
            grouped.items(), key=lambda item: (item[0].startswith("."), item[0])
        )
    ]
    return [*libraries, *froms, *own]


def _import_order(name: str) -> tuple[bool, str]:
    """Classes before modules, as isort has it."""
    return name[0].islower(), name
