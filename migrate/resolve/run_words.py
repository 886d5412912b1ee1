"""Whether a file may run text or load modules by name, by its words alone."""

from __future__ import annotations

import re

# `model.eval()` and `net.modules()` are other words.
_WORDS = {
    "eval": re.compile(r"eval\b(?!\s*\(\s*\))"),
    "exec": re.compile(r"exec\b"),
    "import_module": re.compile("import_module"),
    "__import__": re.compile("__import__"),
    "modules": re.compile(r"modules\b(?!\s*\()"),
}


def may_run_text(text: str) -> bool:
    """False is certain; letters beyond ASCII can stand for others."""
    return not text.isascii() or any(
        word in text and pattern.search(text) for word, pattern in _WORDS.items()
    )
