"""What must hold for any Python file: no crash, no hang, nothing lost or changed for nothing."""

from __future__ import annotations

import ast
import io
import signal
import time
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from migrate.analyze.collect import Analyser
from migrate.port.file import PortedFile
from migrate.project import SourceFile

Result = TypeVar("Result")
CRASHES = ("MS209",)
GIVEN_UP = ("MS312",)


class TooSlow(BaseException):
    """The limit of one file; no handler for errors takes it for one."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    def end(number: int, frame: Any) -> None:
        raise TooSlow

    # The processor's time: others may keep this machine busy.
    earlier = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, earlier)


@dataclass
class Checked:
    """What was found about one file."""

    path: str
    lines: int = 0
    seconds: float = 0.0
    torch: bool = False
    changed: bool = False
    interpreted: bool = False
    twice: bool = False  # the output was ported again
    problems: list[str] = field(default_factory=list)
    refused: str = ""  # the code of the finding that kept it from being read


def check_file(
    source: SourceFile,
    analyser: Analyser,
    port: Callable[[SourceFile], PortedFile],
    seconds: float,
    *,
    interpreted: bool = False,
) -> tuple[Checked, PortedFile | None]:
    """Analyse and port one file and look at what came out.

    A file that is `interpreted` although it cannot meet torch must survive, and may be changed.
    """
    checked = Checked(str(source.path), interpreted=interpreted)
    ported = None
    began = time.process_time()
    try:
        with limit(seconds):
            report = analyser.report(source)
            if report.problem is not None and report.problem.code in CRASHES:
                checked.problems.append(f"analyze: {report.problem.message}")
            ported = port(source)
            checked.problems += list(_problems(source, ported, checked, interpreted))
    except TooSlow:
        checked.problems.append(f"hang: more than {seconds:.0f} s")
    except Exception as error:
        checked.problems.append(f"crash: {type(error).__name__}: {str(error)[:200]}")
    checked.seconds = round(time.process_time() - began, 2)
    return checked, ported


def _problems(
    source: SourceFile, ported: PortedFile, checked: Checked, interpreted: bool
) -> Iterator[str]:
    if ported.problem is not None:
        checked.refused = ported.problem.code
        if ported.problem.code in CRASHES:
            yield f"port: {ported.problem.message}"
        return
    for finding in ported.findings:
        if finding.code in GIVEN_UP:
            yield f"given up: {finding.message}"
    text = source.read()
    checked.lines = text.count("\n")
    checked.torch, checked.changed = ported.usages > 0, ported.changed
    if not ported.changed:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            after = ast.parse(ported.text)
        except (SyntaxError, ValueError) as error:
            yield f"does not parse: {error}"
            return
        before = ast.parse(text)
    # Markers are comments; an import of a module that is ported too leads to the ported one.
    if not interpreted and not names_torch(text) and _dump(before, source) != _dump(after, source):
        yield "changed although it names nothing of torch"
    lost = comments(text) - comments(ported.text)
    if lost:
        yield f"{sum(lost.values())} comments lost: {next(iter(lost))[:80]}"
    gone = docstrings(before) - docstrings(after)
    if gone:
        yield f"{sum(gone.values())} docstrings lost: {next(iter(gone))[:60]!r}"
    ported.encoded()


def _dump(tree: ast.Module, source: SourceFile) -> str:
    """The tree with imports by their whole names: `.part` is `pkg.part` within the package."""
    around = source.package.split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = around[: len(around) - node.level + 1]
            node.level, node.module = 0, ".".join([*base, node.module or ""]).rstrip(".")
    return ast.dump(tree)


def names_torch(text: str) -> bool:
    return "torch" in text or "einops" in text


def comments(text: str) -> Counter[str]:
    """Every comment of a text, without the blanks around it; ours do not count."""
    found: Counter[str] = Counter()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and "ms-migrate:" not in token.string:
                found["".join(token.string.split())] += 1
    except (tokenize.TokenError, SyntaxError):
        return Counter()
    return found


def docstrings(tree: ast.Module) -> Counter[str]:
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(tree) if isinstance(node, holders))
    return Counter(text for node in nodes if (text := ast.get_docstring(node)))
