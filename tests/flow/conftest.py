"""`program(source)`: the flow of a small program, and its functions by name."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.flow import Flow, FunctionFlow
from migrate.project import discover
from migrate.resolve import Resolver
from migrate.table import Table


@pytest.fixture(scope="session")
def table() -> Table:
    return Table()


class Program:
    """A resolved program."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow

    def function(self, name: str = "f") -> FunctionFlow:
        if name == "":
            return self.flow.function(self.flow.tree)
        return self.flow.function(
            next(
                node
                for node in ast.walk(self.flow.tree)
                if isinstance(node, ast.FunctionDef) and node.name == name
            )
        )

    def statement(self, line: str) -> ast.stmt:
        """The first statement whose source starts so."""
        return next(
            node
            for node in ast.walk(self.flow.tree)
            if isinstance(node, ast.stmt) and ast.unparse(node).startswith(line)
        )

    def expression(self, text: str, last: bool = False) -> ast.expr:
        """The first expression, in source order, that reads so."""
        found = [
            node
            for node in ast.walk(self.flow.tree)
            if isinstance(node, ast.expr) and ast.unparse(node) == text
        ]
        found.sort(key=lambda node: (node.lineno, node.col_offset))
        return found[-1 if last else 0]


@pytest.fixture
def program(tmp_path: Path, table: Table) -> Callable[..., Program]:
    def run(source: str, **beside: str) -> Program:
        for name, text in beside.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        path = tmp_path / "main.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        project = discover([tmp_path])
        resolver = Resolver(project, table)
        main = next(file for file in project.files if file.path.name == "main.py")
        resolution = resolver.file(main)
        return Program(Flow(resolution, resolver.modules, resolver.interpreter))

    return run
