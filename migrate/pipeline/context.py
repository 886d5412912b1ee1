"""One file on its way through the pipeline: what is known of it, and what passes collect."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from migrate.findings import CODES, Finding
from migrate.flow import Flow
from migrate.flow.answer import Verdict
from migrate.flow.compiled import compiled_in, index_of
from migrate.flow.outlines import definitions
from migrate.resolve import FileResolution, Usage
from migrate.resolve.interpreter import Interpreter
from migrate.resolve.members import class_is_module
from migrate.resolve.modules import Modules
from migrate.resolve.values import UNKNOWN, ProjectClass, ProjectFunction, Value
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.import_planner import ImportPlanner
from migrate.table import Table
from migrate.table.helper_pieces import HelperIndex

MARKER = "# ms-migrate:"


@dataclass(slots=True)
class Context:
    """One file on its way through the porter."""

    resolution: FileResolution
    modules: Modules
    table: Table
    spelling: ImportPlanner
    helpers: HelperIndex
    input_shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    data: str = "exact"  # or loaders as pipelines: "native", "close"
    notes: list[tuple[int, str]] = field(default_factory=list)  # line, what the summary says of it
    # Line, what an edit takes for granted there, how to check it.
    assumptions: dict[tuple[int, str, str], None] = field(default_factory=dict)
    text: str = ""  # the source
    lines: list[str] = field(default_factory=list)  # of the source
    pairs: dict[cst.CSTNode, ast.AST] = field(default_factory=dict)  # libcst node -> stdlib node
    ported_tree: ast.Module | None = None  # of the finished text
    import_findings: dict[str, Any] = field(default_factory=dict)  # import -> why it stays
    findings: list[Finding] = field(default_factory=list)
    ported: int = 0
    generated: dict[str, str] = field(default_factory=dict)  # helper name -> source made from a row
    usages: dict[ast.AST, Usage] = field(init=False)
    module_classes: dict[ast.AST, ProjectClass] = field(init=False)
    _forwards: frozenset[ast.AST] = field(init=False)
    _compiled: dict[str, Verdict] | None = None
    _compiled_nodes: frozenset[ast.AST] | None = None
    snapshots: list[tuple[str, str]] | None = None  # the text after each pass, for a report
    lowered_names: frozenset[str] = frozenset()  # read by the source before it was lowered
    plan: str = ""  # of its training steps, for --explain-plan
    interpreter: Interpreter | None = None
    # Lines that are rewritten although nothing of torch is named there: `x += 1` of a tensor.
    edited_lines: set[int] = field(default_factory=set)
    _flow: Flow | None = None

    def __post_init__(self) -> None:
        self.usages = {usage.node: usage for usage in self.resolution.usages}
        scope = self.resolution.scope
        classes = scope.classes if scope else []
        self.module_classes = {cls.node: cls for cls in classes if class_is_module(cls)}
        self._forwards = frozenset(
            item
            for cls in self.module_classes.values()
            for item in cls.node.body
            if isinstance(item, ast.FunctionDef) and item.name == "forward"
        )

    def becomes_construct(self, function: ast.AST | None) -> bool:
        """Whether it is the forward of a Module; what is compiled is another question."""
        return function in self._forwards

    def compiled(self) -> dict[str, Verdict]:
        """The functions of the file that are compiled, or may be, by their dotted names."""
        if self._compiled is None:
            self._compiled = compiled_in(self.resolution, self.modules)
        return self._compiled

    def is_compiled(self, function: ast.AST | None) -> bool:
        """Whether Graph mode surely compiles the function: the only answer that passes ask for."""
        if self._compiled_nodes is None:
            sure = {name for name, verdict in self.compiled().items() if verdict.yes}
            self._compiled_nodes = frozenset(
                inner
                for name, node in definitions(self.tree)
                if name in sure
                for inner in all_nodes(node)
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
            )
        return function in self._compiled_nodes

    def may_be_compiled(self, function: ast.AST | None) -> bool:
        """Whether Graph mode compiles the function, or a training step may call it: for forms that
        are right in both modes.
        """
        found = self.compiled()
        return self.is_compiled(function) or any(
            name in found and node is function for name, node in definitions(self.tree)
        )

    def compiles(self, function: ProjectFunction) -> bool:
        """Whether Graph mode surely compiles a function of the program, in whichever file."""
        if function.module is self.resolution.scope:
            return self.is_compiled(function.node)
        return index_of(self.modules).of(function.module.source, function.qualified).yes

    @property
    def tree(self) -> ast.Module:
        """The file's stdlib tree, as it was before the port."""
        assert self.resolution.scope is not None
        return self.resolution.scope.tree

    @property
    def flow(self) -> Flow:
        """Facts of data flow, computed when asked for."""
        if self._flow is None:
            self._flow = Flow(self.resolution, self.modules, self.interpreter)
        return self._flow

    def usage(self, node: ast.AST | None) -> Usage | None:
        return self.usages.get(node) if node is not None else None

    def type(self, node: ast.AST | None) -> Value:
        return self.resolution.types.get(node, UNKNOWN) if node is not None else UNKNOWN

    def assume(self, node: ast.AST, what: str, check: str) -> None:
        """Note what an edit takes for granted, once."""
        self.assumptions.setdefault((getattr(node, "lineno", 1), what, check))

    def flag(
        self,
        node: ast.AST | None,
        code: str,
        message: str,
        next_step: str = "",
        api: str = "",
    ) -> Finding:
        """Note something a person must decide."""
        finding = Finding(
            path=self.resolution.source.path,
            line=getattr(node, "lineno", 0),
            column=getattr(node, "col_offset", -1) + 1,
            code=code,
            message=message,
            next_step=next_step,
            severity=CODES[code].severity,
            api=api,
        )
        self.findings.append(finding)
        return finding


def marker(finding: Finding) -> str:
    """The comment that stands above code that could not be ported."""
    text = f"{MARKER} {finding.code} {finding.message}"
    return " ".join(f"{text}; {finding.next_step}".split() if finding.next_step else text.split())
