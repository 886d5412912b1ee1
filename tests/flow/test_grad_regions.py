"""Which statements run where torch records nothing, however the program switches gradients off."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

_HEAD = "import contextlib\nimport torch\nfrom contextlib import contextmanager\n"
_BLOCK = "def f(net, x, flag):\n    with {}:\n        h = net(x)\n    return h\n"


def _modes(program: Callable[..., Any], source: str, **beside: str) -> list[str]:
    """The modes of the statements that are cut in `f`."""
    flow = program(_HEAD + source, **beside).flow
    function = next(
        node
        for node in ast.walk(flow.tree)
        if isinstance(node, ast.FunctionDef) and node.name == "f"
    )
    return [cut.unless for cut in flow.grad_regions.cuts(function.body, function)]


_MANAGER = """\
@contextmanager
def off(net=None, on=False):
    net.eval()
    with torch.set_grad_enabled({}):
        yield net
    net.train()
"""
_SWITCH = """\
class off:
    def __init__(self, on=False):
        self.on = on
    def __enter__(self):
        self.was = torch.is_grad_enabled()
        torch.set_grad_enabled({})
    def __exit__(self, *error):
        torch.set_grad_enabled(self.was)
"""


@pytest.mark.parametrize(
    ("context", "block", "mode"),
    [
        (_MANAGER.format("False"), "off(net)", [""]),
        (_MANAGER.format("on"), "off(net)", [""]),
        (_MANAGER.format("on"), "off(net, True)", []),
        (_MANAGER.format("on"), "off(net, on=flag)", ["flag"]),
        (_MANAGER.format("not on"), "off(net, on=True)", [""]),
        (_MANAGER.format("net.training"), "off(net)", ["net.training"]),
        (_MANAGER.format("STATE['on']"), "off(net)", ["?"]),
        (_SWITCH.format("False"), "off()", [""]),
        (_SWITCH.format("self.on"), "off()", [""]),
        (_SWITCH.format("self.on"), "off(flag)", ["flag"]),
        (_SWITCH.format("not self.on"), "off(True)", [""]),
        (_SWITCH.format("self.other"), "off()", ["?"]),
        ("class off(torch.no_grad):\n    pass\n", "off()", [""]),
        ("def off(on):\n    return torch.no_grad() if on else contextlib.nullcontext()\n",
         "off(flag)", ["not flag"]),
        ("def off():\n    return torch.inference_mode()\n", "off()", [""]),
        ("@contextmanager\ndef off():\n    yield\n    torch.no_grad()\n", "off()", []),
        ("class off:\n    def __enter__(self):\n        self.c = torch.no_grad()\n"
         "        self.c.__enter__()\n    def __exit__(self, *e):\n        self.c.__exit__(*e)\n",
         "off()", [""]),
        ("class off:\n    def __init__(self):\n        self.c = torch.no_grad()\n"
         "    def __enter__(self):\n        return self.c.__enter__()\n"
         "    def __exit__(self, *e):\n        return self.c.__exit__(*e)\n", "off()", [""]),
    ],
)  # fmt: skip
def test_context_managers_of_the_program(
    program: Callable[..., Any], context: str, block: str, mode: list[str]
) -> None:
    assert _modes(program, context + _BLOCK.format(block)) == mode


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ("with contextlib.ExitStack() as s:\n    s.enter_context(torch.no_grad())\n"
         "    h = net(x)", [""]),
        ("c = torch.no_grad()\nc.__enter__()\nh = net(x)\nc.__exit__(None, None, None)\n"
         "k = net(x)", [""]),
        ("switch(False)\nh = net(x)\nswitch(True)\nk = net(x)", [""]),
        ("switch(flag)\nh = net(x)", ["flag"]),
        ("with torch.no_grad():\n    with torch.enable_grad():\n        h = net(x)", []),
    ],
)  # fmt: skip
def test_switches(program: Callable[..., Any], body: str, mode: list[str]) -> None:
    switch = "def switch(on):\n    torch.set_grad_enabled(on)\n"
    source = f"{switch}def f(net, x, flag):\n{textwrap.indent(body, '    ')}\n"
    assert _modes(program, source) == mode


def test_a_manager_of_another_file(program: Callable[..., Any]) -> None:
    source = "from modes import off\n" + _BLOCK.format("off(net)")
    assert _modes(program, source, modes=_HEAD + _MANAGER.format("False")) == [""]
