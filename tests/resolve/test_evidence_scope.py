"""How far a proof of a parameter's type reaches, and what it costs to ask."""

from __future__ import annotations

import ast
import time

import pytest

from migrate.resolve.evidence_scope import covers_all_reads


def covers(body: str) -> bool:
    """Whether the proof, the x in `proof(x)`, covers all reads of x."""
    text = "def f(x, k):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    proofs = [c.args[0] for c in calls if isinstance(c.func, ast.Name) and c.func.id == "proof"]
    return covers_all_reads(function, "x", proofs[0])


REACHED = {
    "behind it": "proof(x)\nreturn x",
    "before it": "y = x\nproof(x)",
    "the test of what leaves before it": "if x is None:\n    return 0\nproof(x)",
    "under a with": "with k:\n    y = x\n    proof(x)\nreturn x",
    "what a with opens": "with proof(x):\n    pass\nreturn x",
    "in a branch that holds all reads": "if k:\n    y = x\n    proof(x)\nreturn k",
    "a test": "if proof(x):\n    return x\nreturn x",
    "the first operand": "y = proof(x) and k\nreturn x",
    "what a comprehension goes over": "y = [i for i in proof(x)]\nreturn x",
    "in an except": "try:\n    pass\nexcept ValueError:\n    proof(x)\n    y = x",
    "in a case": "match k:\n    case 1:\n        y = x\n        proof(x)",
}
NOT_REACHED = {
    "in a branch": "if k:\n    proof(x)\nreturn x",
    "in the other branch": "if k:\n    proof(x)\nelse:\n    return x",
    "in an elif": "if k:\n    return x\nelif k > 1:\n    return proof(x)",
    "behind what leaves": "if k:\n    return x\nproof(x)",
    "behind a loop that may leave": "for i in k:\n    y = x\n    break\nproof(x)",
    "in a later operand": "y = k and proof(x)\nreturn x",
    "in an arm of a choice": "y = proof(x) if k else x",
    "in a comprehension": "y = [proof(x) for i in k]\nreturn x",
    "in its second loop": "y = [i for j in k for i in proof(x)]\nreturn x",
    "in a lambda": "y = lambda: proof(x)\nreturn x",
    "in an inner function": "def g():\n    proof(x)\nreturn x",
    "a guard": "match k:\n    case 1:\n        return x\n    case 2 if proof(x):\n        return x",
}


@pytest.mark.parametrize("name", REACHED)
def test_reached(name: str) -> None:
    assert covers(REACHED[name])


@pytest.mark.parametrize("name", NOT_REACHED)
def test_not_reached(name: str) -> None:
    assert not covers(NOT_REACHED[name])


def test_many_branches_are_asked_in_linear_time() -> None:
    """Every branch has a proof of its own; 1,200 took half an hour."""
    chain = "".join(f"    elif k == {i}:\n        return proof(x)\n" for i in range(1, 800))
    function = ast.parse(f"def f(x, k):\n    if k == 0:\n        return x\n{chain}").body[0]
    assert isinstance(function, ast.FunctionDef)
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    began = time.process_time()
    assert not any(covers_all_reads(function, "x", call.args[0]) for call in calls)
    assert time.process_time() - began < 5
