"""Which words of a changed line changed: marked on both sides of the page."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from markupsafe import Markup, escape

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_LIKE = 0.4  # below it two lines have little to do with each other, and marks would be noise


def mark_words(old: str, new: str) -> tuple[Markup, Markup]:
    """Both lines as markup, escaped; what differs is marked if they are alike enough."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _LIKE:
        return escape(old), escape(new)
    marked_old, marked_new = Markup(), Markup()
    for kind, i, j, k, m in matcher.get_opcodes():
        first, second = escape("".join(before[i:j])), escape("".join(after[k:m]))
        if kind != "equal":
            first, second = _mark(first), _mark(second)
        marked_old += first
        marked_new += second
    return marked_old, marked_new


def _mark(text: Markup) -> Markup:
    return Markup("<mark>{}</mark>").format(text) if text.strip() else text
