"""Which members may get another value after they were used."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.flow.replaced_members import may_be_replaced
from migrate.project import discover

CONSTRUCTOR = "class Trainer:\n    def __init__(self):\n        self.opt = SGD()\n"
SETUP = "    def setup(self):\n        self.opt = SGD()\n"
CALL = "    def run(self):\n        self.setup()\n"
OTHER = "class Callback:\n    def end(self, trainer):\n        trainer.setup()\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CONSTRUCTOR, False),
        (CONSTRUCTOR + OTHER, False),
        (CONSTRUCTOR + SETUP, True),
        ("class Trainer:\n" + SETUP + CALL, False),
        (
            "class Trainer:\n    def __init__(self):\n        self.opt = None\n" + SETUP + CALL,
            False,
        ),
        ("class Trainer:\n" + SETUP + CALL + OTHER, True),
        (CONSTRUCTOR + "    def swap(self, other):\n        self.opt, self.lr = other\n", True),
        (CONSTRUCTOR + "trainer.opt = SGD()\n", True),
    ],
)
def test_members_that_other_functions_make(tmp_path: Path, text: str, expected: bool) -> None:
    (tmp_path / "a.py").write_text(text)
    assert may_be_replaced("self.opt", discover([tmp_path])) is expected
    assert not may_be_replaced("opt", discover([tmp_path]))
