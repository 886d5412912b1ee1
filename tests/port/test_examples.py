"""Every example in the table and in the rules is what the porter writes, and it compiles."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from examples import body_of, program, settled, source_of

from migrate.rewrite.rules import all_rules
from migrate.table import Table

ROWS = [
    pytest.param(before, after, id=f"{entry.torch}-{number}")
    for entry in Table()
    for number, (before, after) in enumerate(entry.examples, 1)
]
RULES = [
    pytest.param(example, id=f"{rule.name}-{number}")
    for rule in all_rules().values()
    for number, example in enumerate(rule.examples, 1)
]


@pytest.mark.parametrize(("before", "after"), ROWS)
def test_row(port, before: str, after: str) -> None:
    ported = port(program(before))
    assert source_of(body_of(ported.text)) == settled(after)
    assert not [f for f in ported.findings if f.severity == "error"]
    compile(ported.text, "ported.py", "exec")


@pytest.mark.parametrize("example", RULES)
def test_rule(port, example) -> None:
    ported = port(program(example.before))
    compile(ported.text, "ported.py", "exec")
    if example.after:
        assert source_of(body_of(ported.text)) == settled(example.after)
        assert not ported.findings
    else:
        assert any(example.reason in finding.message for finding in ported.findings)
        assert "# ms-migrate:" in ported.text


def test_every_rule_has_examples_and_says_why() -> None:
    for rule in all_rules().values():
        assert rule.examples, rule.name
        assert rule.why.endswith("."), rule.name
