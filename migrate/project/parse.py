"""Text to syntax tree, with a finding that names line and column where that fails."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from typing import TYPE_CHECKING

from migrate.findings import Finding, make_finding
from migrate.project.chains import LONGEST_CHAIN, chained_too_long
from migrate.project.newer_python import newer_python
from migrate.project.text import ReadProblem

if TYPE_CHECKING:
    from migrate.project.files import SourceFile

# What Python 3's parser says to Python 2 source, and what such a line looks like.
_PYTHON_2_MESSAGES = (
    "Missing parentheses in call to 'print'",
    "Missing parentheses in call to 'exec'",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals",
    "inconsistent use of tabs and spaces",
)
_PYTHON_2_LINE = re.compile(
    r"""^\s*(print\s+["'\w%]|exec\s+["'\w]|raise\s+[\w.]+\s*,)|<>|`[^`]+`"""
    r"""|\b0[0-7]+\b|\b\d+[lL]\b|\b[uU][rR]["']|\bexcept\s+[\w.]+\s*,\s*\w+\s*:|\blambda\s*\("""
    r"""|\bdef\s+\w+\(.*\(\w+\s*,\s*\w+\)"""
)


def parse(source_file: SourceFile, text: str | None = None) -> ast.Module:
    """The file's syntax tree; raises ReadProblem with the place of the mistake."""
    if text is None:
        text = source_file.read()
    try:
        with warnings.catch_warnings():
            # A user's "\d" is not this run's business, and the warning would land on stderr.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        if (line := chained_too_long(tree, text)) is not None:
            finding = make_finding(
                "MS208",
                source_file.path,
                f"an expression is a chain of more than {LONGEST_CHAIN:,} parts",
                "split the expression, or leave the file out",
                line=line,
            )
            raise ReadProblem(source_file.placed(finding))
        return tree
    except SyntaxError as error:
        raise ReadProblem(source_file.placed(_syntax_finding(source_file, text, error))) from None
    except (RecursionError, MemoryError):
        finding = make_finding(
            "MS208",
            source_file.path,
            "an expression is nested too deeply for Python's parser",
            "split the expression",
        )
        raise ReadProblem(finding) from None
    except ValueError as error:
        finding = make_finding("MS205", source_file.path, f"is not valid Python: {error}")
        raise ReadProblem(finding) from None


def _syntax_finding(source_file: SourceFile, text: str, error: SyntaxError) -> Finding:
    line = error.lineno or 0
    lines = text.split("\n")
    shown = lines[line - 1] if 0 < line <= len(lines) else ""
    message = error.msg or "invalid syntax"
    if message.startswith(_PYTHON_2_MESSAGES) or _PYTHON_2_LINE.search(shown):
        return make_finding(
            "MS206",
            source_file.path,
            f"is Python 2 source ({shown.strip()[:60]})",
            "convert it first: 2to3 -w FILE",
            line=line,
            column=error.offset or 0,
        )
    newer = newer_python(text, shown, message)
    if newer is not None:
        version, syntax = newer
        running = f"{sys.version_info.major}.{sys.version_info.minor}"
        return make_finding(
            "MS211",
            source_file.path,
            f"uses {syntax}, which Python {running} cannot parse",
            f"run ms-migrate under Python {version} or later",
            line=line,
            column=error.offset or 0,
        )
    return make_finding(
        "MS205",
        source_file.path,
        f"is not valid Python: {message}",
        "fix the line, or exclude the file",
        line=line,
        column=error.offset or 0,
    )
