"""Notebooks as no one should write them: a finding or a port, never a crash, never a lost cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from migrate.cli import main

CODE = ["import torch\n", "x = torch.relu(torch.ones(2))"]


def cell(source: Any, **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, **more}


def dumped(document: Any, encoding: str = "utf-8") -> bytes:
    return json.dumps(document).encode(encoding)


REFUSED = {
    "cells null": dumped({"cells": None, "torch": 1}),
    "cells a number": dumped({"cells": 5, "torch": 1}),
    "cells an object": dumped({"cells": {"torch": 1}}),
    "cells text": dumped({"cells": "torch"}),
    "no cells": dumped({"torch": 1}),
    "no worksheets": dumped({"worksheets": [], "torch": 1}),
    "worksheet null": dumped({"worksheets": [None], "torch": 1}),
    "a list": dumped(["torch"]),
    "text": dumped("torch"),
    "UTF-16": dumped({"cells": [cell(CODE)]}, "utf-16"),
    "UTF-16 without a mark": dumped({"cells": [cell(CODE)]}, "utf-16-le"),
    "Latin-1": '{"cells": [{"cell_type": "code", "source": "import torch # é"}]}'.encode("latin-1"),
    "deep": b'{"torch": ' + b"[" * 100_000,
    "half a pair of surrogates in code": dumped({"cells": [cell("import torch\ns = '\ud800'")]}),
    "NUL in code": dumped({"cells": [cell("import torch\ns = '\0'")]}),
}
PORTED = {
    "null among the cells": dumped({"cells": [None, cell(CODE)]}),
    "metadata null": dumped({"cells": [cell(CODE)], "metadata": None}),
    "metadata a list": dumped({"cells": [cell(CODE)], "metadata": []}),
    "kernel null": dumped({"cells": [cell(CODE)], "metadata": {"kernelspec": None}}),
    "kernel text": dumped({"cells": [cell(CODE)], "metadata": {"kernelspec": "python"}}),
    "source null": dumped({"cells": [cell(None), cell(CODE)]}),
    "source a number": dumped({"cells": [cell(5), cell(CODE)]}),
    "source mixed": dumped({"cells": [cell([*CODE, None, 5])]}),
    "byte order mark": dumped({"cells": [cell(CODE)]}, "utf-8-sig"),
    "half a pair of surrogates in text": dumped(
        {"cells": [{"cell_type": "markdown", "source": "\udfff"}, cell(CODE)]}
    ),
    "second worksheet": dumped(
        {"worksheets": [{"cells": []}, {"cells": [{"cell_type": "code", "input": CODE}]}]}
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_words(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(REFUSED[name])
    for words in (["analyze", str(path)], ["port", str(path), "-o", str(tmp_path / "out")]):
        assert main(words) == 2
        err = capsys.readouterr().err
        assert "a.ipynb" in err and "internal" not in err and "MS209" not in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", PORTED)
def test_ported(name: str, tmp_path: Path) -> None:
    path, out = tmp_path / "a.ipynb", tmp_path / "out"
    path.write_bytes(PORTED[name])
    assert main(["port", str(path), "-o", str(out), "--quiet"]) == 0
    data = (out / "a.ipynb").read_bytes()
    assert b"mindspore" in data and b"torch" not in data
    assert data.startswith(b"\xef\xbb\xbf") == PORTED[name].startswith(b"\xef\xbb\xbf")
    json.loads(data)


@pytest.mark.parametrize("indent", [1, 2, 4, None])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_what_is_not_edited_stays_as_it_is_written(
    indent: int | None, ascii_only: bool, tmp_path: Path
) -> None:
    document = {
        "cells": [{"cell_type": "markdown", "source": ["größer\n"]}, cell(CODE, outputs=[])],
        "nbformat": 4,
    }
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    (tmp_path / "a.ipynb").write_text(text, encoding="utf-8")
    main(["port", str(tmp_path / "a.ipynb"), "-o", str(tmp_path / "out"), "--quiet"])
    new = (tmp_path / "out/a.ipynb").read_text(encoding="utf-8")
    first = text.index("import torch")
    assert new[:first] == text[:first] and new.endswith(text[-10:])


def test_a_form_feed_in_a_string_is_no_line_end(tmp_path: Path) -> None:
    code = "import torch\ns = 'a\x0cb\x1cc\u2028d'\nx = torch.relu(torch.ones(2))"
    (tmp_path / "a.ipynb").write_bytes(dumped({"cells": [cell(code)]}))
    assert main(["port", str(tmp_path / "a.ipynb"), "-o", str(tmp_path / "out"), "-q"]) == 0
    (new,) = json.loads((tmp_path / "out/a.ipynb").read_text())["cells"]
    assert "s = 'a\x0cb\x1cc\u2028d'" in "".join(new["source"])


PORTED_CODE = "x = ops.relu(ops.ones(2))"


def ported_sources(tmp_path: Path, source: str) -> list[str]:
    """The code of two cells that come out, the second of them without its import."""
    text = json.dumps({"cells": [cell(source), cell("".join(CODE))]})
    (tmp_path / "a.ipynb").write_text(text, encoding="utf-8")
    main(["port", str(tmp_path / "a.ipynb"), "-o", str(tmp_path / "out"), "--quiet"])
    found = json.loads((tmp_path / "out/a.ipynb").read_text(encoding="utf-8"))["cells"]
    return [one["source"] for one in found]


@pytest.mark.parametrize(
    "line",
    [
        "def f():\n    pass  # %s of the rest",
        "y = None  # !rm -rf .",
        "pass  # ?",
        "# %% [markdown]\n# A cell of an editor",
        "pass  # torch?",
    ],
)
def test_a_comment_does_not_become_a_command(line: str, tmp_path: Path) -> None:
    """Magics stand as comments while the text is Python; what its author wrote stays a comment."""
    first, last = ported_sources(tmp_path, f"{line}\nimport torch\nw = torch.ones(2)")
    assert line in first and "ops.ones(2)" in first and PORTED_CODE in last


def test_magics_come_back_beside_comments(tmp_path: Path) -> None:
    lines = "%matplotlib inline\nfiles = !ls\npass  # %time\n"
    first, _ = ported_sources(tmp_path, f"{lines}import torch\nw = torch.ones(2)")
    assert all(line in first for line in lines.splitlines()) and "ops.ones" in first


def test_a_comment_that_is_one_of_the_magics_leaves_the_notebook(tmp_path: Path) -> None:
    lines = "%time\npass  # %time\nimport torch\nw = torch.ones(2)"
    assert ported_sources(tmp_path, lines) == [lines, "".join(CODE)]


@pytest.mark.parametrize("text", ["# ms-migrate: cell 2", '"""\n# ms-migrate: cell 7\n"""'])
def test_a_text_that_looks_like_a_seam_is_none(text: str, tmp_path: Path) -> None:
    first, last = ported_sources(tmp_path, f"{text}\nimport torch\na = torch.ones(2)")
    assert text in first and "a = ops.ones(2)" in first and PORTED_CODE in last


def test_numbers_stay_as_they_are_written(tmp_path: Path) -> None:
    numbers = '"a": 1E2, "b": 0.10, "c": 1e999, "d": -0, "e": "ms-migrate number 7", "f": NaN'
    text = '{"cells": [' + json.dumps(cell("".join(CODE), outputs=[])) + '], "metadata": {'
    (tmp_path / "a.ipynb").write_text(f"{text}{numbers}}}}}", encoding="utf-8")
    assert main(["port", str(tmp_path / "a.ipynb"), "-o", str(tmp_path / "out")]) == 0
    assert numbers in (tmp_path / "out/a.ipynb").read_text(encoding="utf-8")
