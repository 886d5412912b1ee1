"""Which row stands behind a line, and what the porter would write for it; no framework needed."""

from __future__ import annotations

import ast
from pathlib import Path

from migrate.parity.judge import emitted, provenance
from migrate.parity.request.target import parse
from migrate.parity.workers.structure import ModuleInfo, Place
from tests.parity.faults import TWINS

TORCH, MINDSPORE = TWINS / "cnn_torch.py", TWINS / "cnn_ms.py"


def place(path: Path, text: str) -> Place:
    """Where some text stands in a file."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if text in line:
            return Place(str(path), number, line.index(text))
    raise AssertionError(f"{text!r} is not in {path.name}")


def layer(kind: str, where: Place, module: str = "torch.nn.modules.x") -> ModuleInfo:
    return ModuleInfo("m", kind, created=where, module=module)


def test_the_porter_s_own_line_is_shown_for_a_layer_that_differs(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from mindspore import nn\npool = nn.MaxPool2d(3, stride=2, pad_mode='same')\n"
    )
    ours = layer("MaxPool2d", place(TORCH, "nn.MaxPool2d("))
    found = provenance.of_layer(ours, layer("MaxPool2d", place(wrong, "nn.MaxPool2d(")))
    code, _, needs = found.emitted.partition("  # needs: ")
    assert code == "helpers.MaxPool2d(3, stride=2, padding=1)"
    assert needs == "import ms_migrate_helpers as helpers"
    assert "torch.nn.MaxPool2d" in found.row and "pool_padding" in found.row
    assert not found.as_ported and "ms-migrate writes here" in found.sentence


def test_a_line_that_the_porter_wrote_is_said_to_be_one(tmp_path: Path) -> None:
    right = tmp_path / "right.py"
    right.write_text(
        "import ms_migrate_helpers as helpers\npool = helpers.MaxPool2d(3, stride=2, padding=1)\n"
    )
    ours = layer("MaxPool2d", place(TORCH, "nn.MaxPool2d("))
    found = provenance.of_layer(ours, layer("MaxPool2d", place(right, "helpers.MaxPool2d(")))
    assert found.as_ported and "please report" in found.sentence


def test_of_several_calls_on_a_line_the_right_one_is_taken() -> None:
    where = place(TORCH, "nn.LeakyReLU(")
    assert ", nn.BatchNorm2d(16)" in where.text, "the test wants several calls on this line"
    assert provenance.of_layer(layer("LeakyReLU", where), None).emitted == "helpers.LeakyReLU()"


def test_a_class_of_the_user_s_has_no_row() -> None:
    ours = layer("Block", place(TORCH, "Block(8)"), module="cnn_torch")
    assert provenance.of_layer(ours, None) == provenance.Origin()


def test_without_the_source_the_row_is_still_named(tmp_path: Path) -> None:
    gone = layer("Conv2d", Place(str(tmp_path / "gone.py"), 3, 8))
    found = provenance.of_layer(gone, None)
    assert "torch.nn.Conv2d" in found.row and not found.emitted


def test_lines_of_a_forward_name_the_rows_of_what_they_call() -> None:
    first, last = place(TORCH, "x = self.avgpool"), place(TORCH, "return self.fc(")
    found = provenance.of_code(first, last, place(MINDSPORE, "def construct"))
    assert "torch.flatten" in found.row and "ops.flatten(x, start_dim=1)" in found.emitted


def test_a_loss_of_the_user_s_own_is_found_and_ported() -> None:
    where = emitted.function_place(parse(f"{TWINS / 'training_torch.py'}:loss"))
    assert where is not None
    found = provenance.of_code(where, None, None)
    assert "torch.nn.functional.cross_entropy" in found.row
    assert "label_smoothing=0.1" in found.emitted


def test_a_statement_is_found_again_by_what_it_assigns() -> None:
    """The porter adds and drops statements, so their number says nothing."""
    before = ast.parse("a = 1\nself.x = f(g(1))\nb = 2")
    after = ast.parse("import z\nself.x = F(G(one=1), 2)\nb = 2")
    way = emitted._way_to_call(before, Place("", 2, 11))
    assert way is not None
    found = emitted._follow(before, after, way)
    assert found is not None and ast.unparse(found) == "G(one=1)"
