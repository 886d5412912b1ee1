"""Layout, names of locals and file boundaries do not change what a port means."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.table import Table
from tests.metamorphic.corpus import alone, sample
from tests.metamorphic.meaning import normalised, port_meaning
from tests.metamorphic.relations import RELATIONS
from tests.metamorphic.variants import renamed_locals, split, squeezed


@pytest.fixture(scope="module")
def table() -> Table:
    return Table()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("path", sample(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_port_means_the_same(relation: str, path: Path, tmp_path: Path, table: Table) -> None:
    difference = RELATIONS[relation](alone(path), tmp_path, table)
    assert not difference, difference[:3000]


def test_the_net_catches_a_difference(tmp_path: Path, table: Table) -> None:
    """A variant that means something else must not pass."""
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.size(0)\n"
    before = port_meaning(tmp_path / "a", {"m.py": text}, table)["m.py"]
    after = port_meaning(tmp_path / "b", {"m.py": text.replace("size(0)", "size(1)")}, table)
    assert "shape[1]" in before.difference(after["m.py"])


def test_variants_say_the_same_in_other_words() -> None:
    text = "import torch\ndef f(x, n):\n    y = (x + 1 if(n)else 2)\n    return y\n"
    assert normalised(squeezed(text)) == normalised(text)
    assert "x+1 if n else 2" in squeezed(text)
    assert "y_local = " in renamed_locals(text) and "x_local" not in renamed_locals(text)
    parts = split(text + "def g(x):\n    return f(x, SIZE)\nSIZE = 3\n", "helper")
    assert parts is not None and parts.moved == ("f",) and "from helper import f" in parts.main
