"""Whether a file may run text or load modules by name, by its words alone."""

from __future__ import annotations

import re

# `model.eval()` and `net.modules()` are other words.
_WORDS = [
    re.compile(word)
    for word in (
        r"eval\b(?!\s*\(\s*\))",
        r"exec\b",
        "import_module",
        "__import__",
        r"modules\b(?!\s*\()",
    )
]


def may_run_text(text: str) -> bool:
    """False is certain; letters beyond ASCII can stand for others."""
    return not text.isascii() or any(word.search(text) for word in _WORDS)
