"""What holds for every program: port never fails, keeps comments, changes nothing twice, and
leaves code without torch alone.
"""

from __future__ import annotations

import ast
import io
import os
import tokenize
from collections import Counter

from hypothesis import HealthCheck, given, settings

from tests.port import grammar

EXAMPLES = int(os.environ.get("MS_MIGRATE_EXAMPLES", "20"))  # more of them for a long search
RELAXED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def comments_of(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


@RELAXED
@given(grammar.programs(torch=True))
def test_every_program_ports_to_a_program(port, text: str) -> None:
    ported = port(text)
    ast.parse(ported.text)
    assert ported.problem is None, ported.problem


@RELAXED
@given(grammar.programs(torch=True))
def test_comments_are_kept(port, text: str) -> None:
    before, after = comments_of(text), comments_of(port(text).text)
    assert not before - after


@RELAXED
@given(grammar.programs(torch=True))
def test_porting_twice_changes_nothing(port, text: str) -> None:
    once = port(text).text
    if "import torch" in once:  # what is left is ported, or marked, again
        return
    assert port(once).text == once


@RELAXED
@given(grammar.programs(torch=False))
def test_code_without_torch_is_left_alone(port, text: str) -> None:
    assert port(text).text == text
