"""Control flow, def-use, liveness and regions of small functions."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.flow import Answer
from migrate.flow.cfg import ControlFlow
from migrate.flow.def_use import DefUse
from migrate.flow.region import may_move, region_carried, region_inputs, region_outputs


def lines(definitions) -> list[int]:
    return sorted(getattr(d.node, "lineno", 0) for d in definitions)


def test_a_read_sees_the_definitions_of_both_branches(program):
    p = program(
        """\
        def f(c):
            x = 1
            if c:
                x = 2
            return x
        """
    )
    assert lines(p.function().defuse.reaching(p.expression("x", last=True))) == [2, 4]


def test_formatting_and_line_order_do_not_matter(program):
    p = program("def f(c):\n    x = 1; y = x; x = 2; return y\n")
    f = p.function()
    assert not f.defuse.read_after(p.statement("y = x"), "x")
    assert f.defuse.read_after(p.statement("y = x"), "y")


def test_the_next_round_of_a_loop_reads_what_this_one_bound(program):
    p = program(
        """\
        def f(xs):
            state = 0
            for x in xs:
                out = state + x
                state = out
            return 1
        """
    )
    f = p.function()
    assert f.defuse.read_after(p.statement("state = out"), "state")
    assert not f.defuse.read_after(p.statement("state = out"), "out")
    assert f.cfg.in_loop(p.statement("out = "))
    assert not f.cfg.in_loop(p.statement("return"))


def test_branches_of_an_if_exclude_each_other(program):
    p = program(
        """\
        def f(c):
            if c:
                a = 1
            else:
                b = 2
            return c
        """
    )
    f = p.function()
    assert f.cfg.exclusive(p.statement("a = 1"), p.statement("b = 2"))
    assert f.cfg.dominates(p.statement("if c"), p.statement("b = 2"))
    assert not f.cfg.dominates(p.statement("a = 1"), p.statement("return"))


@pytest.mark.parametrize(
    ("body", "unbound"),
    [
        ("if c:\n        x = 1\n    return x", True),
        ("if c:\n        x = 1\n    else:\n        x = 2\n    return x", False),
        ("for i in c:\n        x = i\n    return x", True),
        ("while True:\n        x = 1\n        break\n    return x", False),
        ("try:\n        x = g()\n    except E:\n        pass\n    return x", True),
        ("try:\n        x = g()\n    except E:\n        raise\n    return x", False),
        ("with c:\n        x = 1\n    return x", False),
        ("x: int = 1\n    return x", False),
        ("if (x := c):\n        pass\n    return x", False),
        ("x = 1\n    del x\n    return x", False),
    ],
)
def test_names_that_some_way_leaves_unbound(program, body, unbound):
    p = program(f"def f(c):\n    {body}\n")
    assert p.function().defuse.maybe_unbound(p.expression("x", last=True)) is unbound


def test_inner_functions_read_at_any_later_time(program):
    p = program(
        """\
        def f(a):
            x = a
            def inner():
                return x
            x = 3
            return inner
        """
    )
    f = p.function()
    assert f.defuse.captured == {"x"}
    assert f.defuse.read_after(p.statement("x = 3"), "x")


def test_a_comprehension_has_names_of_its_own(program):
    p = program(
        """\
        def f(xs):
            x = 1
            return [x for x in xs]
        """
    )
    assert not p.function().defuse.read_after(p.statement("x = 1"), "x")


def test_a_return_inside_try_runs_finally(program):
    p = program(
        """\
        def f(a):
            try:
                return a
            finally:
                b = a
        """
    )
    assert p.function().cfg.may_follow(p.statement("return a"), p.statement("b = a"))


STEP = """\
def f(loader, cell, head, state):
    for x, y in loader:
        out = cell(x + state)
        state = out.detach()
        out = head(out)
        loss = out - y
        n = out > 0
    return loss, state
"""


def test_inputs_and_outputs_of_a_region(program):
    p = program(STEP)
    f = p.function()
    loop = p.statement("for x, y")
    region = loop.body[:4]
    assert region_inputs(f, region) == ["cell", "x", "state", "head", "y"]
    assert region_outputs(f, region) == ["state", "out", "loss"]
    assert region_carried(f, region) == {"out", "state", "loss"}


def test_a_statement_that_reads_an_earlier_value_stays(program):
    p = program(STEP)
    f = p.function()
    detached = p.statement("state = out.detach()")
    verdict = may_move(f, detached, p.statement("out = head"))
    assert verdict.no and "out" in verdict.reason
    assert may_move(f, p.statement("n = out"), []).yes
    assert may_move(f, detached, p.statement("n = out")).yes


def test_an_answer_has_no_truth_value():
    with pytest.raises(TypeError):
        bool(Answer.UNKNOWN)


def test_match_and_with_bind(program):
    p = program(
        """\
        def f(v):
            match v:
                case [a, *rest]:
                    return a
                case _:
                    pass
            with open(v) as h:
                return h
        """
    )
    f = p.function()
    assert [d.kind for d in f.defuse.definitions("a")] == ["pattern"]
    assert [d.kind for d in f.defuse.definitions("h")] == ["with"]


def test_every_statement_of_real_code_has_a_point(program):
    source = ast.parse(Path(ast.__file__).read_text(encoding="utf-8"))
    for function in [n for n in ast.walk(source) if isinstance(n, ast.FunctionDef)]:
        cfg = ControlFlow(function)
        defuse = DefUse(cfg)
        for point in cfg.points[2:]:
            assert cfg.has(point.statement)
            for name in point.reads:
                defuse.reaching(name)
