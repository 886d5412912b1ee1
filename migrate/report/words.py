"""The words that all reports share, so that they say the same thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from migrate.analyze import dry_runs
from migrate.analyze.groups import GROUPS
from migrate.analyze.model import LEVELS, Action, Analysis, Feature, Operator, Place
from migrate.printable import printable
from migrate.report.coverage_words import covered, open_items
from migrate.table.entry import MODES, PLATFORMS, without_holes

_SHORT = (
    ("torch.nn.functional.", "F."),
    ("torch.nn.init.", "init."),
    ("torch.nn.", "nn."),
    ("torch.Tensor.", "Tensor."),
    ("torch.optim.", "optim."),
    ("torchvision.transforms.", "transforms."),
    ("mindspore.nn.", "nn."),
    ("mindspore.ops.", "ops."),
    ("mindspore.Tensor.", "Tensor."),
)


def short(name: str) -> str:
    """A name as people import it: nn.Conv2d."""
    return next((new + name[len(old) :] for old, new in _SHORT if name.startswith(old)), name)


def shown_operators(analysis: Analysis) -> list[Operator]:
    """Rows of the operator table; what belongs to a feature is shown there."""
    least = LEVELS.index(analysis.options.min_status)
    return [
        row
        for row in analysis.operators
        if not row.unknown and not row.group and LEVELS.index(row.status) >= least
    ]


def shown_features(analysis: Analysis) -> list[Feature]:
    least = LEVELS.index(analysis.options.min_status)
    return [row for row in analysis.features if LEVELS.index(row.status) >= least]


def members(feature: Feature) -> str:
    """What of a group is used, the most frequent first: `kaiming_normal_ 3, constant_ 2`."""
    ranked = sorted(feature.members.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {count}" if count > 1 else name for name, count in ranked)


def heading(feature: Feature) -> str:
    return GROUPS[feature.name]


def target(row: Operator) -> str:
    """The counterpart for a table."""
    return without_holes(row.target)


def modes(row: Operator) -> tuple[str, str]:
    """Whether the counterpart runs in PyNative and in Graph mode."""
    if row.entry is None:
        return "?", "?"
    if row.entry.status == "missing":
        return "-", "-"
    return tuple("yes" if mode in row.entry.modes else "no" for mode in MODES)  # type: ignore[return-value]


def device(row: Operator, wanted: str) -> str:
    """Where the counterpart runs, or whether it runs where the user wants it."""
    if row.entry is None:
        return "?"
    if row.entry.status == "missing":
        return "-"
    if wanted == "Ascend" and (opinion := dry_runs.opinion(row.entry)):
        return "no" if opinion.problem else "mostly" if opinion.note else "yes"
    if wanted:
        return "yes" if wanted in row.entry.platforms else "no"
    if set(row.entry.platforms) == set(PLATFORMS):
        return "all"
    return ", ".join(row.entry.platforms)


def file_names(analysis: Analysis) -> dict[str, str]:
    """A short name for each file: as many of its folders as tell it from the other files."""
    found = [
        *(row.places for row in analysis.operators),
        *(row.places for row in analysis.features),
        *(row.places for row in analysis.actions),
    ]
    paths = list(dict.fromkeys(place.path for places in found for place in places))
    parts = {path: path.replace("\\", "/").split("/") for path in paths}
    shared = Counter(
        tuple(names[-size:]) for names in parts.values() for size in range(1, len(names) + 1)
    )
    shown = {}
    for path, names in parts.items():
        least = 2 if names[-1] == "__init__.py" else 1
        size = next((n for n in range(least, len(names)) if shared[*names[-n:],] == 1), len(names))
        shown[path] = printable("/".join(names[-size:]), keep="")
    return shown


def places_within(found: Sequence[Place], names: Mapping[str, str], width: int) -> str:
    """As many places as fit, the rest counted; a name that is too long loses its beginning."""
    for limit in range(6, 0, -1):
        text = places(found, limit, names)
        if len(text) <= width:
            return text
    return "…" + text[len(text) - width + 1 :]


def places(found: Sequence[Place], limit: int = 0, names: Mapping[str, str] | None = None) -> str:
    """`resnet.py:31, 44, train.py:7 +12`: file names once, the rest counted."""
    names = names or {}
    lines = list(dict.fromkeys((place.path, place.cell, place.line) for place in found))
    shown = lines[:limit] if limit else lines
    parts: list[str] = []
    last = None
    for path, cell, line in shown:
        where = f"cell {cell}:{line}" if cell else str(line)
        parts.append(where if path == last else f"{names.get(path) or _file(path)}:{where}")
        last = path
    rest = len(lines) - len(shown)
    return ", ".join(parts) + (f" +{rest}" if rest else "")


def _file(path: str) -> str:
    """The last part of a path, or the last two for names that every package has."""
    parts = path.replace("\\", "/").split("/")
    name = "/".join(parts[-2:]) if parts[-1] == "__init__.py" else parts[-1]
    return printable(name, keep="")


def count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def headline(analysis: Analysis) -> str:
    """What was looked at."""
    apis = sum(1 for row in analysis.operators if not row.unknown)
    text = f"{count(analysis.files, 'file')}, {count(analysis.lines, 'line')}"
    idle = analysis.files - analysis.torch_files
    if idle:
        text += f" ({count(idle, 'file')} without torch)"
    return f"{text}: {count(analysis.uses, 'use')} of {count(apis, 'torch API')}"


def summary(analysis: Analysis) -> str:
    """The one line that tells how much work is left."""
    if not analysis.uses:
        return "Nothing to port: no torch API is used."
    if analysis.coverage is not None:
        hidden = f"; {analysis.hidden}" if analysis.hidden else ""
        return f"{covered(analysis.coverage)}; {open_items(analysis.open_items)}{hidden}."
    manual = analysis.uses - analysis.automatic
    # 100% only when it is true: 999 of 1000 is not all of it.
    percent = int(100 * analysis.share) if manual else 100
    statuses = ", ".join(f"{name} {n}" for name, n in analysis.by_status.items())
    port = "ports" if analysis.uses == 1 else "port"
    text = f"{percent}% of {count(analysis.uses, 'use')} {port} automatically ({statuses})"
    if manual:
        kinds = len({a.title for a in analysis.actions if a.api and a.severity != "note"})
        need = "needs" if manual == 1 else "need"
        text += f"; {count(manual, 'use')} of {count(kinds, 'API')} {need} porting by hand"
    graph = sum(a.count for a in analysis.actions if a.mode == "graph" and a.severity != "note")
    if graph:
        text += f"; Graph mode needs changes in {count(graph, 'place')}"
    if analysis.hidden:
        text += f"; {analysis.hidden}"
    return text + "."


def due(analysis: Analysis) -> list[list[Action]]:
    """What someone must act on; actions with the same reason and cure stand together."""
    return _together(action for action in analysis.actions if action.due)


def notes(analysis: Analysis) -> list[list[Action]]:
    return _together(action for action in analysis.actions if not action.due)


def _together(actions: Iterable[Action]) -> list[list[Action]]:
    groups: dict[tuple[str, str, str, str], list[Action]] = {}
    for action in actions:
        groups.setdefault((action.code, action.why, action.step, action.mode), []).append(action)
    return sorted(groups.values(), key=lambda group: -sum(action.count for action in group))


def titles(group: Sequence[Action]) -> str:
    """`torch.fft.fft 3, torch.fft.ifft`: the counts only where there are several names."""
    if len(group) == 1:
        return group[0].title
    return ", ".join(f"{a.title} {a.count}" if a.count > 1 else a.title for a in group)


def all_places(group: Sequence[Action]) -> list[Place]:
    found = (place for action in group for place in action.places)
    return sorted(found, key=lambda place: (place.path, place.cell, place.line, place.column))


def unknown_uses(analysis: Analysis) -> int:
    return sum(row.count for row in analysis.operators if row.unknown)


def sentence(text: str) -> str:
    """A capital and a full stop, unless the text starts with code."""
    if not text:
        return ""
    first = text.split(maxsplit=1)[0]
    start = text if any(mark in first for mark in "._(=`:") else text[0].upper() + text[1:]
    return start if start.endswith((".", "!", "?")) else start + "."


def joined(parts: Iterable[str]) -> str:
    return " ".join(sentence(part) for part in parts if part)
