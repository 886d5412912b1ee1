"""docs/graph_limits.md, from the table of limits and the results of its reproducers."""

from __future__ import annotations

from collections.abc import Mapping

from migrate.lower.limits import Limit, limits

_HEAD = """\
# Limits of Graph mode

What MindSpore's Graph mode does not compile (loud) or compiles to something else (silent), and what
`port` makes of it. Written from `mappings/graph_limits.toml` by `make limits`, which runs the
reproducer of each row; `analyze` reports the same rows.

- **another form**: the pass that is named writes it so that it compiles and agrees.
- **PyNative**: the class gets a line `not_compiled = "why"`. Called in Graph mode, such a network,
  and any network that contains it, runs in PyNative mode, with a warning; so does a training step.

| construct | effect | what `port` does | run on |
|---|---|---|---|
"""


def page(results: Mapping[str, object]) -> str:
    """The Markdown text; `results` is docs/results/graph_limits.json."""
    found = results.get("limits", {})
    assert isinstance(found, dict)
    version = f"MindSpore {results.get('mindspore', '')}"
    rows = [_row(limit, found.get(limit.name, {}), version) for limit in limits().values()]
    return _HEAD + "".join(rows)


def _row(limit: Limit, run: Mapping[str, str], version: str) -> str:
    treatment = "PyNative" if limit.port == "pynative" else f"another form: `{limit.by}`"
    confirmed = run.get("limit") == limit.effect and run.get("after", "agrees") == "agrees"
    where = version if confirmed else "not run" if run.get("limit", "not run") == "not run" else ""
    return f"| {limit.construct} | {limit.effect} | {treatment} | {where or 'not confirmed'} |\n"
