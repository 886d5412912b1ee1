"""Spellings that must not change what a port means, each as a check of one module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from migrate.table import Table
from tests.metamorphic.meaning import merged, port_meaning, without_suffix
from tests.metamorphic.variants import reformatted, renamed_locals, split, squeezed

Check = Callable[[str, Path, Table], str | None]  # the difference; None where it does not apply
MAIN, HELPER = "module.py", "moved_part.py"


def _same_file(variant: Callable[[str], str], suffix: str = "") -> Check:
    def check(text: str, folder: Path, table: Table) -> str:
        before = port_meaning(folder / "before", {MAIN: text}, table)[MAIN]
        after = port_meaning(folder / "after", {MAIN: variant(text)}, table)[MAIN]
        return before.difference(without_suffix(after, suffix) if suffix else after)

    return check


def _two_files(only_functions: bool) -> Check:
    """Read backwards it is the merging of two files into one."""

    def check(text: str, folder: Path, table: Table) -> str | None:
        parts = split(text, HELPER.removesuffix(".py"), only_functions)
        if parts is None:
            return None
        before = port_meaning(folder / "before", {MAIN: text}, table)[MAIN]
        files = {MAIN: parts.main, HELPER: parts.helper}
        after = port_meaning(folder / "after", files, table)
        return merged([before]).difference(merged(after.values()))

    return check


RELATIONS: dict[str, Check] = {
    "reformat": _same_file(reformatted),
    "squeeze": _same_file(squeezed),
    "rename_locals": _same_file(renamed_locals, "_local"),
    "split_module": _two_files(only_functions=False),
    "move_functions": _two_files(only_functions=True),
}
