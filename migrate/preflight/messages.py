"""What MindSpore's errors mean in a dry run, told by their text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from migrate.preflight.result import Place, Problem

_NODE = re.compile(r"(?:node is|node:|kernel:|For) ?(?:\S*/)?(?P<name>\w+?)-op\d+")
_PRIMITIVE = re.compile(r"primitive\[(?P<name>\w+)\]|For '(?P<other>\w+)'|For aclnn(?P<aclnn>\w+)")
_IN_FILE = re.compile(r"In file (?P<file>[^\n:]+?):(?P<line>\d+)")

# The first text that an error contains decides.
_TEXTS = (
    ("needs to be supplemented with an adapter", Problem.NO_KERNEL),
    ("supported input and output data types", Problem.DTYPE),
    ("must be a type of", Problem.DTYPE),
    ("must be one of", Problem.DTYPE),
    ("output shape depends on", Problem.UNDECIDED),
    ("dry run mode can not support", Problem.UNDECIDED),
    ("dryrun mode", Problem.UNDECIDED),
    ("Can not select a valid kernel", Problem.NO_KERNEL),
    ("Unsupported op", Problem.NO_KERNEL),
    ("not support", Problem.REFUSED),
)


@dataclass(frozen=True)
class Meaning:
    """An error in our words."""

    problem: Problem
    operator: str
    message: str


def meaning(kind: str, text: str) -> Meaning:
    """Classify an exception by its type and text."""
    problem = next((found for part, found in _TEXTS if part in text), None)
    operator = _operator(text)
    if problem is None:
        problem = Problem.REFUSED if operator and kind in _OPERATOR_ERRORS else Problem.FAILED
    return Meaning(problem, operator, _message(kind, text, problem))


_OPERATOR_ERRORS = ("RuntimeError", "TypeError", "ValueError", "NotImplementedError")


def _operator(text: str) -> str:
    node = _NODE.search(text)
    if node:
        return node["name"]
    primitive = _PRIMITIVE.search(text)
    if primitive:
        return primitive["name"] or primitive["other"] or primitive["aclnn"]
    return ""


def _message(kind: str, text: str, problem: Problem) -> str:
    """MindSpore's own sentence, without the parts for its developers."""
    body = text.split("----------------------------------------------------")[0].strip()
    lines = [" ".join(line.split()) for line in body.splitlines() if line.strip()]
    if problem is Problem.DTYPE and "supported input and output data types" in body:
        return "; ".join(line for line in lines if "Desc [" in line)
    if problem is Problem.NO_KERNEL and "adapter" in body:
        return "MindSpore's Ascend backend has no kernel for this operator"
    first = " ".join(lines) if lines else kind
    return f"{kind}: {first}"[:400] if problem is Problem.FAILED else first[:400]


def places_in(text: str) -> list[Place]:
    """The source lines that the graph compiler names, outermost first."""
    return [Place(found["file"], int(found["line"])) for found in _IN_FILE.finditer(text)]
