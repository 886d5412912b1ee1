"""`port -o` killed at any of its file operations: no output or a whole one, and the next run clears
up; with --force each file is the old or the new one, and the same command completes it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.port.write_output import write_tree
from tests.files.test_in_place import content, killed_at, lasting

FILES = {f"p/m{n}.py": f"import torch\nx = torch.ones({n})\n" for n in range(3)}


@pytest.mark.parametrize("force", [False, True])
def test_killed_at_any_moment(force: bool, port_files, tmp_path: Path) -> None:
    tree = port_files(FILES, "p")
    write_tree(tree, tmp_path / "whole" / "out", force=False)
    new = content(tmp_path / "whole" / "out")
    old = dict.fromkeys((*new, "other.txt"), b"mine\n") if force else {}
    mixed = 0
    for moment in range(1, 300):
        top = tmp_path / str(moment)
        out = top / "out"
        top.mkdir()
        for name, data in old.items():
            out.mkdir(exist_ok=True)
            (out / name).write_bytes(data)
        killed = killed_at(moment, lambda out=out: write_tree(tree, out, force=force))
        found = lasting(out)
        if force:
            assert all(data in (old[name], new.get(name)) for name, data in found.items())
            mixed += found not in (old, old | new)
        else:
            assert found in ({}, new)
        write_tree(tree, out, force=True)
        assert content(top) == {f"out/{name}": data for name, data in (old | new).items()}
        if not killed:
            break
    assert not killed and moment > 5 and bool(mixed) == force
