"""docs/architecture.md shows what the stages really compute, and names modules that exist."""

from __future__ import annotations

import re

from tests.walkthrough.__main__ import PAGE, filled
from tests.walkthrough.stages import walkthrough


def test_the_page_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, walkthrough()) == page, "run `python -m tests.walkthrough`"


def test_modules_that_the_page_names_exist() -> None:
    package = PAGE.parent.parent / "migrate"
    named = re.findall(r"`(\w+/\w+\.py)`", PAGE.read_text(encoding="utf-8"))
    assert named and not [name for name in named if not (package / name).exists()]
