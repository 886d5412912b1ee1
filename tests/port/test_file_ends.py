"""What stands behind the last line of code stays, comments and blanks."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.cli import main
from migrate.syntax.parsing import parse

ENDS = [
    "",
    "\n",
    "\n\n\n   \n",
    "\n\n   \n\n",
    "\n\n\n   ",
    "\n\n    # kept\n\n  ",
    "\n# kept\n\t\n    # kept too",
    "\n\n\f\n",
    "  # beside\n  \n# last",
]


@pytest.mark.parametrize("end", ENDS)
def test_the_tree_gives_back_every_byte(end: str) -> None:
    for code in ("x = 1", "def f():\n    return 1", "if x:\n    y = 2\n\n    z = 3"):
        assert parse(code + end).code == code + end


def test_a_file_of_comments_alone() -> None:
    for text in ("", "   ", "# a\n   \n  # b", "\n \n"):
        assert parse(text).code == text


def test_a_port_keeps_what_stands_at_the_end(tmp_path: Path) -> None:
    for number, end in enumerate(ENDS):
        (tmp_path / f"n{number}.py").write_text(f"import torch\n\nx = torch.relu(y){end}")
    main(["port", str(tmp_path), "-o", str(tmp_path / "out"), "--quiet"])
    for number, end in enumerate(ENDS):
        ported = (tmp_path / "out" / f"n{number}.py").read_text()
        assert ported == f"from mindspore import ops\n\nx = ops.relu(y){end}"
