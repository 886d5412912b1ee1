"""What stands behind each changed line of a port: the row and rules of an API, or a pass.

While a file is ported for a report, the text is kept after each pass that leaves one. A line
belongs to the last pass that wrote it; what the walk over the syntax tree wrote is told apart by
the APIs that its source lines use.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from migrate.resolve.usage import Usage
from migrate.table import Table

WALK = "rewrite"
_LAYOUT = ("long_lines", "unused_cleanup", "helpers")
_PASSES = {
    "import": "pass `imports`",
    "class": "pass `cell_classes`: a Module becomes a Cell",
    "def": "pass `cell_classes`: `forward` becomes `construct`",
}


def reasons_of(
    before: str, snapshots: Sequence[tuple[str, str]], usages: Sequence[Usage], table: Table
) -> dict[int, str]:
    """The reason of each new line by its number; of a line that went, by minus its old number."""
    apis: dict[int, dict[str, str]] = {}
    for usage in usages:
        entry = table.get(usage.api)
        if usage.form not in ("unknown", "import") and entry is not None:
            rules = sorted({rule for overload in entry.overloads for rule in overload.rules})
            by = f" by {', '.join(rules)}" if rules else ""
            apis.setdefault(usage.line, {})[entry.torch] = by
    source = before.split("\n")
    # For each line of the current text: the line of the source it came from, and the reason.
    lines: list[tuple[int, str]] = [(number, "") for number in range(1, len(source) + 1)]
    gone: dict[int, str] = {}
    current = source
    for name, text in snapshots:
        following = text.split("\n")
        lines = _carried(current, following, lines, name, apis, gone)
        current = following
    found = {number: reason for number, (_, reason) in enumerate(lines, 1) if reason}
    return found | {-number: reason for number, reason in gone.items()}


def _carried(
    before: list[str],
    after: list[str],
    lines: list[tuple[int, str]],
    name: str,
    apis: dict[int, dict[str, str]],
    gone: dict[int, str],
) -> list[tuple[int, str]]:
    result: list[tuple[int, str]] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, i, end, j, stop in matcher.get_opcodes():
        if kind == "equal":
            result += lines[i:end]
            continue
        origins = [origin for origin, _ in lines[i:end] if origin]
        # What is written anew keeps the reason that it had: a layout explains no meaning.
        earlier = "; ".join(dict.fromkeys(reason for _, reason in lines[i:end] if reason))
        for offset, text in enumerate(after[j:stop]):
            origin = lines[min(i + offset, end - 1)][0] if i < end else 0
            reason = earlier if name in _LAYOUT and earlier else _reason(name, text, [origin], apis)
            if earlier and name not in _LAYOUT:
                reason = earlier if reason in earlier else f"{earlier}; {reason}"
            result.append((origin, reason))
        if j == stop:
            for origin in origins:
                gone[origin] = _reason(name, before[i], [origin], apis)
    return result


def _reason(name: str, text: str, origins: list[int], apis: dict[int, dict[str, str]]) -> str:
    if name != WALK:
        return f"pass `{name}`"
    used: dict[str, str] = {}
    for origin in origins:
        used |= apis.get(origin, {})
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    if used:
        return ", ".join(f"row `{api}`{by}" for api, by in list(used.items())[:3])
    if first.startswith("#"):
        return ""
    return _PASSES.get("import" if first == "from" else first, "pass of the rewrite")
