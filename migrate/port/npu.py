"""`--target torch-npu`: keep PyTorch and move it from CUDA to Ascend's torch_npu.

Text edits at the places that name CUDA; every other character stays.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from migrate.analyze.coverage import Coverage
from migrate.findings import Finding
from migrate.port.file import PortedFile
from migrate.project import ReadProblem, SourceFile
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import nodes_of

_DEVICE = re.compile(r"cuda(:\d+)?")
_WORDS = {"nccl": "hccl", "CUDA_VISIBLE_DEVICES": "ASCEND_RT_VISIBLE_DEVICES"}
_METHODS = {"cuda": "npu", "is_cuda": "is_npu"}
_NO_COUNTERPART = {
    "torch.cuda.nvtx": "mark ranges with torch_npu.npu.mstx, or drop them",
    "torch.utils.cpp_extension": "build the operator with torch_npu.utils.cpp_extension and CANN",
    "apex": "use torch_npu's own mixed precision and fused optimizers",
    "triton": "write the kernel for Ascend (triton-ascend, or an operator of CANN)",
}

Edit = tuple[int, int, str]  # from and to, in the UTF-8 bytes of the text


def npu_file(source: SourceFile, text: str | None = None) -> PortedFile:
    """Rewrite one file. A file that does not import torch comes back byte for byte."""
    try:
        text = source.read() if text is None else text
        tree = ast.parse(text)
    except ReadProblem as unread:
        return PortedFile(source, "", problem=unread.finding)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        problem = Finding(source.path, line, 1, "MS205", f"is not valid Python: {error}")
        return PortedFile(source, text or "", problem=problem)
    imports = [n for n in nodes_of(tree, ast.Import, ast.ImportFrom) if _imports_torch(n)]
    if not imports:
        return PortedFile(source, text)
    places = _Places(text)
    nodes = nodes_of(tree, *_EDITED)
    edits = sorted({edit for node in nodes for edit in _edits(node, places)})
    findings = [found for node in nodes for found in _left(node, source)]
    count = len(edits)
    if (count or _is_program(tree)) and not _has_torch_npu(tree):
        top = [node for node in tree.body if node in imports] or imports
        edits.append(_import_of_npu(top[-1], places))
    new = places.apply(edits)
    ast.parse(new)
    return PortedFile(
        source,
        new,
        changed=new != text,
        findings=findings,
        coverage=Coverage(count + len(findings), count),
    )


_EDITED = (ast.Attribute, ast.Constant, ast.JoinedStr, ast.Import, ast.ImportFrom)


def _import_of_npu(last: ast.stmt, places: _Places) -> Edit:
    """`import torch_npu` behind the last import of torch."""
    end = places.at(last.end_lineno or 1, last.end_col_offset or 0)
    return end, end, f"\n{' ' * last.col_offset}import torch_npu"


class _Places:
    """A text by the positions that ast gives: lines, and UTF-8 bytes in them."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.starts = [0]
        for line in self.data.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return (
            self.at(node.lineno, node.col_offset),
            self.at(node.end_lineno or node.lineno, node.end_col_offset or 0),
        )

    def apply(self, edits: list[Edit]) -> str:
        data = self.data
        for start, end, new in sorted(edits, reverse=True):
            data = data[:start] + new.encode() + data[end:]
        return data.decode()


def _edits(node: ast.AST, places: _Places) -> Iterator[Edit]:
    if isinstance(node, ast.Attribute) and node.attr in _METHODS:
        # `torch.cuda` is the module, `x.cuda` the method: the same word replaces both.
        _, end = places.span(node)
        yield end - len(node.attr), end, _METHODS[node.attr]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if new := _word(node.value):
            yield from _inside(node, node.value, new, places)
    elif isinstance(node, ast.JoinedStr):
        start, end = places.span(node)
        for found in re.finditer(rb"(?<![\w.])cuda:(?=\{)", places.data[start:end]):
            yield start + found.start(), start + found.end(), "npu:"
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
        yield from _import_edits(node, places)


def _import_edits(node: ast.ImportFrom, places: _Places) -> Iterator[Edit]:
    """torch.npu exists only once torch_npu is imported: take the names from torch_npu itself."""
    start, end = places.span(node)
    if (node.module or "").split(".")[:2] == ["torch", "cuda"]:
        found = places.data.index(b"torch.cuda", start, end)
        yield found, found + len("torch.cuda"), "torch_npu.npu"
    elif node.module == "torch" and [alias.name for alias in node.names] == ["cuda"]:
        bound = node.names[0].asname or "cuda"
        yield start, end, f"from torch_npu import npu as {bound}"


def _word(value: str) -> str | None:
    """Only whole strings: "cuda" inside a sentence is prose."""
    if value in _WORDS:
        return _WORDS[value]
    return value.replace("cuda", "npu") if _DEVICE.fullmatch(value) else None


def _inside(node: ast.Constant, old: str, new: str, places: _Places) -> Iterator[Edit]:
    start, end = places.span(node)
    # Not found: part of an f-string, or spelled with escapes or in pieces.
    found = places.data.find(old.encode(), start, end)
    if found >= 0 and places.data[found - 1 : found] in (b'"', b"'"):
        yield found, found + len(old.encode()), new


def _left(node: ast.AST, source: SourceFile) -> Iterator[Finding]:
    """What torch_npu does not have, with the nearest way."""
    below = not isinstance(node, ast.Attribute)
    names = _names_in(node)
    for api, way in _NO_COUNTERPART.items():
        if api in names or (below and any(name.startswith(f"{api}.") for name in names)):
            assert isinstance(node, (ast.Attribute, ast.Import, ast.ImportFrom))
            yield Finding(
                source.path,
                node.lineno,
                node.col_offset + 1,
                "MS301",
                f"{api} has no counterpart in torch_npu",
                next_step=way,
                api=api,
            )


def _names_in(node: ast.AST) -> list[str]:
    """The dotted names that an attribute or an import spells."""
    if isinstance(node, ast.Attribute):
        return [ast.unparse(node)]
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _imports_torch(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] == "torch" for alias in node.names)
    return node.level == 0 and (node.module or "").partition(".")[0] == "torch"


def _has_torch_npu(tree: ast.Module) -> bool:
    imported = (alias.name for node in nodes_of(tree, ast.Import) for alias in node.names)
    return "torch_npu" in imported


def _is_program(tree: ast.Module) -> bool:
    """`if __name__ == "__main__"`: torch_npu must be imported even if no line names a device."""
    return any(
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and name_of(node.test.left) == "__name__"
        for node in tree.body
    )
