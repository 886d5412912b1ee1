"""MindSpore's errors, shortened to what a user can act on: the message and the line it is about."""

from __future__ import annotations

import re
import traceback

from migrate.parity.workers import user_code

# The compiler says in its text which lines it was reading; they are in no traceback.
_COMPILED = re.compile(r"In file (?P<file>[^\s:]+):(?P<line>\d+)")
_NOISE = re.compile(r"^(-|#|mindspore/|\s*[~^]+\s*$)")


def describe(error: BaseException) -> dict[str, str]:
    """An error inside the model, with the innermost line of user code that led to it."""
    said: list[str] = []
    for line in str(error).splitlines():
        if line.startswith("---") and said:
            break
        if line.strip() and not _NOISE.match(line):
            said.append(line.strip())
    return {
        "what": f"{type(error).__name__}: {' '.join(said[:3])[:600]}",
        "where": user_line(error),
        "trace": "".join(traceback.format_exception(error))[-6000:],
    }


def user_line(error: BaseException) -> str:
    """`file:line` of the user's code, as Python or the graph compiler tells it; may be empty."""
    read = [(found["file"], int(found["line"])) for found in _COMPILED.finditer(str(error))]
    return user_code.innermost([*user_code.traced(error), *read])
