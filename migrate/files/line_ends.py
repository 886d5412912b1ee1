"""Line ends as they were: the porter works on `\\n`, and the bytes outside its edits must stay."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_END = re.compile(r"\r\n|\r|\n")


def with_line_ends_of(original: str, text: str) -> str:
    """`text` (ended by `\\n`) with each line ended as its counterpart in `original` is.

    A file with one kind of line end gets that kind. In a mixed one, lines that are unchanged keep
    their own, and a new line is ended like the line before it.
    """
    ends = _END.findall(original)
    kinds = set(ends)
    if kinds <= {"\n"}:
        return text
    if len(kinds) == 1:
        return text.replace("\n", ends[0])
    old = _END.sub("\n", original).split("\n")
    new = text.split("\n")
    chosen: list[str] = [""] * (len(new) - 1)
    for tag, low, high, start, stop in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        for place in range(start, min(stop, len(chosen))):
            source = low + place - start if tag in ("equal", "replace") else low - 1
            source = min(source, high - 1) if tag == "replace" else source
            chosen[place] = ends[max(0, min(source, len(ends) - 1))]
    return "".join(line + end for line, end in zip(new, [*chosen, ""], strict=True))
