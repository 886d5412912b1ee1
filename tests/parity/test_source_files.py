"""A recorded step may name any path: `compare` quotes nothing that was not agreed to."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.parity.judge import emitted, provenance, source_files
from migrate.parity.workers.structure import Place
from migrate.report.parity_html import _source_line


def test_nothing_is_quoted_from_files_that_a_step_only_names(tmp_path: Path) -> None:
    secret, model = tmp_path / "secret.py", tmp_path / "models/net.py"
    model.parent.mkdir()
    for path in (secret, model):
        path.write_text("import torch\npassword = torch.relu('hunter2')\n")
    (tmp_path / "models/link.py").symlink_to(secret)
    (tmp_path / "models/token").write_text("hunter2\n")
    assert "hunter2" in _source_line(f"{secret}:2")  # parity ran the file itself
    with source_files.limited_to([]):
        for path in (secret, model):
            assert _source_line(f"{path}:2") == ""
            assert emitted.port(str(path)) is None
            assert emitted.apis(Place(str(path), 2), 2) == []
            assert emitted.call_at(Place(str(path), 2)) is None
            assert provenance.of_code(Place(str(path), 2), None, None).sentence == ""
    emitted.port.cache_clear()
    with source_files.limited_to([model.parent]):
        assert "hunter2" in _source_line(f"{model}:2")
        assert emitted.port(str(model)) is not None
        for name in ("../secret.py", "link.py", "token"):
            assert _source_line(f"{model.parent / name}:1") == ""
    emitted.port.cache_clear()


@pytest.mark.parametrize("name", ["", "\0", "nowhere", "relative/net.py"])
def test_odd_names(name: str) -> None:
    with source_files.limited_to([Path("models")]):
        assert _source_line(f"{name}:1") == ""
