"""MindSpore announces that classic signatures will move to torch's: emitted calls must survive it.

What is required stands in front in both orders; everything else is written by its keyword, and a
default that differs from torch's is always stated. Then a new order or a new default cannot change
what a call computes, and a new name is an error instead of another result. Each row whose target is
announced to change is ported with every optional argument written by position, as torch allows.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from migrate.table import Entry, Overload, Table
from migrate.table.entry import VERSIONS
from migrate.table.signature import Parameter, parse_signature
from migrate.verify.porting import Ported, port_text
from tests.table.emitted_calls import ROOTS, calls_in, from_template, roots_of
from tests.table.mindspore_source import ANY
from tests.table.scan_wheels import in_version, read_facts

_ANNOTATIONS = {
    "Tensor": "torch.Tensor",
    "bool": "bool",
    "dtype": "torch.dtype",
    "float": "float",
    "int": "int",
    "number": "float",
    "sequence": "tuple",
    "str": "str",
}


@cache
def announced(kind: str) -> frozenset[str]:
    """Full names of the APIs that will be `changed` or `removed`."""
    with Path(__file__).with_name("announced_changes.toml").open("rb") as stream:
        document = tomllib.load(stream)
    return frozenset(f"{owner}.{n}" for owner, names in document[kind].items() for n in names)


@dataclass(frozen=True, slots=True)
class Trial:
    """One form of one row, called with everything it takes."""

    name: str  # of the function that makes the call
    entry: Entry
    form: Overload
    source: str

    @property
    def required(self) -> list[str]:
        assert self.form.signature is not None
        return [p.name for p in self.form.signature.parameters if p.required]


def trials() -> Iterator[Trial]:
    rows = {entry.torch: entry for entry in Table()}
    for entry in rows.values():
        for form in entry.overloads:
            touched = form.mindspore in announced("changed") and form.signature is not None
            if touched and entry.kind in ("class", "function", "method"):
                name = f"call_{sum(map(ord, entry.torch))}_{abs(hash((entry.torch, form.params)))}"
                yield Trial(name, entry, form, written(name, entry, form))


def written(name: str, entry: Entry, form: Overload) -> str:
    """A function whose body is the call: optional arguments by position while torch allows it."""
    assert form.signature is not None
    parameters, arguments = [], []
    if entry.kind == "method":
        owner = entry.torch.rpartition(".")[0]
        parameters.append(f"receiver: {owner}")
    for parameter in form.signature.parameters:
        if parameter.kind in ("varargs", "varkwargs"):
            continue
        value = f"given_{parameter.name}" if parameter.required else parameter.default
        if parameter.required:
            parameters.append(f"{value}{annotation(parameter)}")
        arguments.append(f"{parameter.name}={value}" if parameter.kind == "keyword" else value)
    last = entry.torch.rpartition(".")[2]
    callee = f"receiver.{last}" if entry.kind == "method" else entry.torch
    call = f"{callee}({', '.join(arguments)})"
    return f"def {name}({', '.join(parameters)}):\n    return {call}\n"


def annotation(parameter: Parameter) -> str:
    first = parameter.type.partition("|")[0].strip()
    return f": {_ANNOTATIONS[first]}" if first in _ANNOTATIONS else ""


@pytest.fixture(scope="module")
def ported(tmp_path_factory) -> tuple[list[Trial], Ported]:
    made = list(trials())
    text = "import torch\nimport torchvision\n\n\n" + "\n\n".join(t.source for t in made)
    return made, port_text(text, tmp_path_factory.mktemp("announced"))


def calls_of(trial: Trial, functions: dict[str, ast.FunctionDef], roots: dict[str, str]):
    """The calls of the row's target in what its function became."""
    target = trial.form.mindspore
    for node in ast.walk(functions[trial.name]):
        if not isinstance(node, ast.Call):
            continue
        path = ast.unparse(node.func)
        first, _, rest = path.partition(".")
        member = path == f"receiver.{target.rpartition('.')[2]}"
        if member or f"{roots.get(first, first)}.{rest}" == target:
            yield node, member


def test_optional_arguments_are_written_by_keyword(ported):
    made, result = ported
    tree = ast.parse(result.text)
    roots = roots_of(tree)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    problems, proven, pinned = [], set(), set()
    for trial in made:
        for node, _ in calls_of(trial, functions, roots):
            position = [ast.unparse(argument) for argument in node.args]
            allowed = ["receiver", *(f"given_{name}" for name in trial.required)]
            stray = [text for text in position if text not in allowed]
            if stray:
                problems.append(f"{trial.entry.torch}: {stray} by position in {ast.unparse(node)}")
            unsaid = set(trial.form.pin) - {keyword.arg for keyword in node.keywords}
            if unsaid:
                problems.append(
                    f"{trial.entry.torch}: {sorted(unsaid)} unsaid: {ast.unparse(node)}"
                )
            proven.add(trial.entry.torch)
            pinned |= {trial.entry.torch} if trial.form.pin else set()
    assert not problems, "\n" + "\n".join(problems)
    assert len(proven) > 190 and len(pinned) > 8, (len(proven), len(pinned))


def test_every_pinned_row_is_on_trial(ported):
    """A row that states a default must have shown that it does, unless the porter refuses it."""
    made, result = ported
    tree = ast.parse(result.text)
    roots = roots_of(tree)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    silent = [
        f"{trial.entry.torch}({trial.form.params})"
        for trial in made
        if trial.form.pin
        and trial.name not in result.refused
        and not any(True for _ in calls_of(trial, functions, roots))
        and "helpers." not in ast.unparse(functions[trial.name])
    ]
    assert not silent, "\n" + "\n".join(silent)


def test_templates_write_optional_arguments_by_keyword():
    facts = read_facts()
    problems = []
    for entry in Table():
        for form in entry.overloads:
            for call in calls_in(from_template(form.emit), ROOTS) if form.emit else ():
                forms = in_version(facts, call.name, VERSIONS[-1])
                if call.name not in announced("changed") or not forms or forms == ANY:
                    continue
                lists = [parse_signature(text) for text in forms.split(" | ")]
                required = max(sum(p.required for p in one.positional) for one in lists)
                if call.positional > required and not any(one.varargs for one in lists):
                    problems.append(f"{entry.torch}: {form.emit}, where {call.name}({forms})")
    assert not problems, "\n" + "\n".join(problems)
