"""How far does a proof of a value's type reach? `torch.matmul(x, w)` takes tensors alone, so `x` is
one where that call is always reached; in another branch it may be something else.

def scale(x, w):
    if isinstance(w, float):
        return x * w                  # nothing is known of x here
    return torch.matmul(x, w)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate.syntax.access import is_read
from migrate.syntax.ast_index import all_nodes

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def covers_all_reads(function: Function, name: str, proof: ast.expr) -> bool:
    """Whether every read of a parameter stands where the proof is reached, too."""
    reads = _reads_in(function, name)
    if len(reads) < 2:
        return True
    block = _block_of(function.body, proof)
    covered: list[ast.Name] = []
    for part in block:
        if proof in all_nodes(part):
            after = block[block.index(part) :]
            covered += [read for other in after for read in _reads_in(other, name)]
            return not _is_conditional(part, proof) and set(reads) <= set(covered)
        # `if x is None: return x`: of what leaves the block before the proof, the test is reached.
        leaves = any(isinstance(node, _LEAVES) for node in all_nodes(part))
        covered += _reads_in(getattr(part, "test", None) if leaves else part, name)
    return False


def _block_of(body: list[ast.stmt], node: ast.AST) -> list[ast.AST]:
    """The innermost block around a node that may be skipped as a whole, statement by statement."""
    parts = list(_unwrapped(body))
    for part in parts:
        for block in _blocks(part) if node in all_nodes(part) else ():
            if any(node in all_nodes(inner) for inner in block):
                return _block_of(block, node)
    return parts


def _unwrapped(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands in a `with` is never skipped: its statements belong to the block around it."""
    for statement in body:
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            yield from statement.items
            yield from _unwrapped(statement.body)
        else:
            yield statement


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, _NESTED):
        return
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _is_conditional(statement: ast.AST, node: ast.expr) -> bool:
    """In a part of an expression that is not always evaluated."""
    later: Sequence[ast.AST]
    for part in all_nodes(statement):
        if isinstance(part, ast.IfExp):
            later = [part.body, part.orelse]
        elif isinstance(part, ast.BoolOp):
            later = part.values[1:]
        elif isinstance(part, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            first = part.generators[0].iter
            later = [] if node in all_nodes(first) else [part]
        elif isinstance(part, _NESTED):
            later = [part]
        else:
            continue
        if any(node in all_nodes(one) for one in later):
            return True
    return False


def _reads_in(node: ast.AST | None, name: str) -> list[ast.Name]:
    return [
        part
        for part in (all_nodes(node) if node is not None else ())
        if isinstance(part, ast.Name) and part.id == name and is_read(part)
    ]
