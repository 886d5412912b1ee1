"""Passes do what their examples say, and only the declared order matters."""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from examples import IMPORTS, settled

from migrate.pipeline import Example, OrderError, Pass, all_passes, ordered
from migrate.pipeline.explain import explain_passes
from migrate.port.file import PortedFile, port_file
from migrate.project import discover
from migrate.resolve import Resolver
from migrate.table import Table

HELPER_IMPORT = "import ms_migrate_helpers as helpers"
CASES = [
    pytest.param(one, example, id=f"{one.name}-{number}")
    for one in all_passes()
    for number, example in enumerate(one.examples, 1)
]
_WHOLE = ("class ", "def ", "@", "import ", "from ")
_FORWARD = """\
class Net(nn.Module):
    def __init__(self, layers, args):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(layers)])
        self.args = args

    def forward(self, x: torch.Tensor, y: torch.Tensor):
{0}
        return x
"""


def _program(before: str) -> str:
    if before.startswith(_WHOLE):
        return f"from functools import partial\n{IMPORTS}\n\n{before}\n"
    body = "\n".join(f"        {line}" if line else "" for line in before.splitlines())
    return f"from functools import partial\n{IMPORTS}\n\n{_FORWARD.format(body)}"


def _result(before: str, text: str) -> str:
    """The ported example alone, in one settled spelling."""
    tree = ast.parse(text)
    if before.startswith(_WHOLE):
        kept = [s for s in tree.body if not isinstance(s, ast.Import | ast.ImportFrom)]
        return ast.unparse(ast.Module(kept, []))
    (function,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "construct"
    )
    return ast.unparse(ast.Module(function.body[:-1], []))


@pytest.fixture
def port_with(tmp_path: Path, table: Table):
    def run(text: str, passes: tuple[Pass, ...], style: str = "torch") -> PortedFile:
        path = tmp_path / "example.py"
        path.write_text(text)
        project = discover([path])
        resolver = Resolver(project, table)
        return port_file(
            resolver,
            project.files[0],
            helper_import=HELPER_IMPORT,
            passes=passes,
            style=style,
        )

    return run


@pytest.mark.parametrize(("one", "example"), CASES)
def test_examples_of_passes(port_with, one: Pass, example: Example) -> None:
    if one.unit == "text":
        assert one.run(example.before, "") == example.after
        return
    style = "mindspore" if one.phase == "style" else "torch"
    ported = port_with(_program(example.before), all_passes(), style)
    if example.reason:
        assert any(example.reason in finding.message for finding in ported.findings)
        return
    assert _result(example.before, ported.text) == settled(example.after)
    others = tuple(other for other in all_passes() if other is not one)
    if one.unit != "node" and settled(example.after) != settled(example.before):
        without = port_with(_program(example.before), others, style)
        assert _result(example.before, without.text) != settled(example.after)


def test_every_pass_says_why_and_has_examples() -> None:
    for one in all_passes():
        assert one.why, one.name
        assert one.examples, one.name


def test_the_list_of_passes_names_them_all() -> None:
    text = explain_passes()
    assert all(f"  {one.name} (" in text for one in all_passes())


def _declared(name: str, *after: str, phase: str = "tidy", needs: tuple[str, ...] = ()) -> Pass:
    return Pass(name, phase, "module", len, "why", needs, dict.fromkeys(after, "a reason"))


def test_the_order_is_computed_and_checked() -> None:
    passes = [_declared("a", "c"), _declared("b"), _declared("c"), _declared("z", phase="plan")]
    assert [one.name for one in ordered(passes)] == ["z", "b", "c", "a"]
    for wrong in (
        [_declared("a", "b"), _declared("b", "a")],
        [_declared("a", "missing")],
        [_declared("a", phase="plan", needs=("imports",))],
        [_declared("a", needs=("nothing",))],
        [_declared("a", "b", phase="plan"), _declared("b")],
    ):
        with pytest.raises(OrderError):
            ordered(wrong)


def _corpus() -> Iterator[str]:
    spec = find_spec("torchvision")  # read, not imported
    if spec is None or spec.origin is None:
        pytest.skip("torchvision is not installed")
    folder = Path(spec.origin).parent
    for name in _SAMPLE:
        yield (folder / "models" / f"{name}.py").read_text("utf-8")
    for path in sorted(Path("reference_pt").rglob("*.py")):
        yield path.read_text("utf-8")
    for one in all_passes():
        yield from (_program(example.before) for example in one.examples)
    statements = [e.before for one in all_passes() for e in one.examples]
    yield _program("\n".join(text for text in statements if not text.startswith(_WHOLE)))


_SAMPLE = ("densenet", "detection/roi_heads", "optical_flow/raft")


def test_passes_that_do_not_name_each_other_can_change_places(port_with) -> None:
    texts = list(_corpus())
    expected = [port_with(text, all_passes()).text for text in texts]
    for seed in range(3):
        choose = random.Random(seed).choice if seed else max
        passes = tuple(ordered(all_passes(), choose))
        found = [port_with(text, passes).text for text in texts]
        for text, before, after in zip(texts, expected, found, strict=True):
            assert before == after, f"order {seed}: {[one.name for one in passes]}\n{text[-2000:]}"
