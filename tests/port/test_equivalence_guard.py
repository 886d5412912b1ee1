"""The guard before each write: a port that is not the same program is not written."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.emit.equivalence_guard import (
    Touched,
    Version,
    free_names,
    mindspore_names,
    violations,
)
from migrate.port import guard
from migrate.table.mindspore_names import MindSporeNames

NOTHING = Touched(frozenset(), frozenset(), frozenset())


def found(before: str, after: str, touched: Touched = NOTHING, version: str = "2.10") -> list[str]:
    texts = [Version(text, ast.parse(text)) for text in (before, after)]
    return list(violations(texts[0], texts[1], touched, MindSporeNames(version)))


def test_names_that_would_not_be_bound() -> None:
    before = "import torch\nx = torch.ones(1)\nprint(free)\n"
    assert found(before, "x = ops.ones(1)\nprint(free)\n") == ["ops would not be bound"]
    assert found(before, "from mindspore import ops\nx = ops.ones(1)\nprint(free)\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, /, b, *c, d=1, **e): return a, b, c, d, e",
        "class A: pass\nA()",
        "try: pass\nexcept E as error: print(error)\nclass E: pass",
        "match x:\n    case [first, *rest]: print(first, rest)\n    case {'k': v, **more}:\n"
        "        print(v, more)\n    case C() as c: print(c)\nclass C: x = 1\nx = 1",
        "print([a for a in range(3) if (b := a)], b)",
        "def f():\n    global g\n    g = 1\nprint(g)",
        "import os.path, sys as s\nfrom a.b import c as d, e\nprint(os, s, d, e)",
        "with open('x') as f: print(f)\nfor i in f: print(i)\ndel i",
        "print(__file__, __name__, __class__)",
        "lambda q: q",
    ],
)
def test_every_way_to_bind_a_name(text: str) -> None:
    assert free_names(ast.parse(text)) == set()


def test_mindspore_names_must_exist_in_the_release() -> None:
    good = "import mindspore\nfrom mindspore import nn, ops as o\nimport mindspore.nn as n\n"
    good += "nn.Dense(1, 2); o.relu(x=1); n.Cell.construct; mindspore.Tensor.anything\n"
    assert found("", good) == []
    assert set(mindspore_names(ast.parse(good))) >= {"mindspore.ops.relu", "mindspore.nn.Dense"}
    assert found("", "from mindspore import ops\nops.no_such_operator\n") == [
        "MindSpore 2.10 has no mindspore.ops.no_such_operator"
    ]
    assert "has no mindspore.nn.NoLayer" in found("", "from mindspore.nn import NoLayer\n")[0]
    late = "import mindspore\nmindspore.DeviceCtx\n"  # new in 2.9
    assert found("", late) == [] and found("", late, version="2.8") != []
    # What the author wrote is the author's, and a local name is no module.
    assert found("from mindspore import nn\nnn.Odd\n", "from mindspore import nn\nnn.Odd\n") == []
    assert found("", "from mindspore import nn\ndef f(nn): return nn.Odd\n") == []


def test_functions_without_torch_stay_what_they_are() -> None:
    before = "def f(a):\n    return a + 1  # one\n\nclass A:\n    def g(self):\n        return 1\n"
    assert found(before, before.replace("  # one", "")) == []
    assert found(before, before.replace("a + 1", "a + 2")) == [
        "f (line 1), which uses nothing of torch, would change"
    ]
    assert "A.g (line 5)" in found(before, before.replace("return 1\n", "return None\n"))[0]
    assert "would be lost" in found(before, "class A:\n    def g(self):\n        return 1\n")[0]
    for touched in (
        Touched(frozenset({2}), frozenset(), frozenset()),
        Touched(frozenset(), frozenset(), frozenset({"f"})),
    ):
        assert found(before, before.replace("a + 1", "a + 2"), touched) == []


@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "if x:\n    {}",
        "if x:\n    pass\nelse:\n    {}",
        "try:\n    {}\nfinally:\n    pass",
        "try:\n    pass\nexcept ImportError:\n    {}",
        "try:\n    pass\nexcept ImportError:\n    pass\nelse:\n    {}",
        "try:\n    pass\nfinally:\n    {}",
        "with x:\n    {}",
        "for x in y:\n    {}",
        "while x:\n    pass\nelse:\n    {}",
        "match x:\n    case 1:\n        {}",
        "class A:\n    class B:\n        {}",
        "class A:\n    if x:\n        {}",
    ],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_functions_are_found_wherever_they_stand(frame: str, kind: str) -> None:
    before = f"x = y = 1\n{frame.format(f'{kind} f(): return 1')}\ndef last(): return 3\n"
    assert found(before, before) == []
    changed = found(before, before.replace("return 1", "return 2"))
    owner = "A.B." if "class B" in frame else "A." if "class A" in frame else ""
    assert len(changed) == 1 and changed[0].startswith(f"{owner}f (line ")
    assert "last" in found(before, before.replace("return 3", "return 4"))[0]
    touched = Touched(frozenset(), frozenset({owner[:-1]}), frozenset()) if owner else NOTHING
    assert found(before, before.replace("return 1", "return 2"), touched) == changed[bool(owner) :]


def test_only_the_lines_of_a_function_and_its_decorators_are_its_own() -> None:
    before = "x = 1\n@dec\ndef f():\n    return 1\nx = 2\ndef dec(f): return f\n"
    after = before.replace("return 1", "return 2")
    for line in range(1, 6):
        touched = Touched(frozenset({line}), frozenset(), frozenset())
        assert bool(found(before, after, touched)) == (line in (1, 5))


def test_names_of_mindspore_in_every_form_of_import() -> None:
    imports = "import os, mindspore.nn\nfrom os import path\nfrom .mindspore import own\n"
    imports += "from . import mine\nfrom mindspore.ops import *\nimport mindspore.mint as m\n"
    text = imports + "mindspore.nn.Dense; m.cat; path.odd; own.odd; mine.odd\n"
    assert set(mindspore_names(ast.parse(text))) == {
        *("mindspore.nn", "mindspore.nn.Dense", "mindspore.mint", "mindspore.mint.cat"),
    }
    bound = "from mindspore import nn, ops\nnn = 1\nnn.Odd\ndef f(ops): return ops.Odd\n"
    assert set(mindspore_names(ast.parse(bound))) == {"mindspore.nn", "mindspore.ops"}


def test_names_that_are_bound_only_by_a_declaration() -> None:
    for word in ("global", "nonlocal"):
        text = f"a = 1\ndef f():\n    {word} g, h\n    print(a, g, h)\n"
        assert free_names(ast.parse(text)) == set()


def test_a_long_list_of_names_is_cut() -> None:
    assert found("", "a; b; c; d; e\n") == ["a, b, c, d, e would not be bound"]
    assert found("", "a; b; c; d; e; f\n") == ["a, b, c, d, e, ... would not be bound"]


SOURCE = """
import torch

def plain(a):
    return a + 1

def build():
    return torch.ones(2)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a + 1", "a + 2"),
        ("ops.ones", "ops.wrong_name"),
        ("def build", "unbound_name\ndef build"),
        ("def build()", "def build("),
    ],
)
def test_a_file_that_fails_is_left_with_a_finding(
    port, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    from migrate.port import file

    good = port(SOURCE)
    assert good.changed and not good.findings and old in good.text
    plain = file.run_passes

    def wrong(text, context, passes):
        code = plain(text, context, passes).replace(old, new)
        context.ported_tree = None
        return code

    monkeypatch.setattr(file, "run_passes", wrong)
    bad = port(SOURCE)
    assert not bad.changed and bad.text == SOURCE and bad.ported == 0
    assert [finding.code for finding in bad.findings] == ["MS312"]


def test_every_port_passes_the_guard(port, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(
        "migrate.port.file.check_equivalence",
        lambda *words: asked.append(words) or guard.check_equivalence(*words),
    )
    port(SOURCE)
    assert len(asked) == 1


def test_the_shipped_names_are_those_that_were_scanned() -> None:
    import json

    from tests.table.list_names import LIST, names_by_release

    assert json.loads(LIST.read_text(encoding="utf-8")) == names_by_release()


def test_an_import_that_becomes_relative_in_a_function_is_no_violation(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text("import torch\n\ndef make():\n    return torch.ones(2)\n")
    (package / "use.py").write_text(
        "import torch\n\ndef plain():\n    from pkg.parts import make\n    return make\n\n"
        "def bounds(x):\n    import numpy as np\n    n = np.sum(np.ones(3), dtype=int)\n"
        "    return x[n:], torch.ones(2)\n\n"
        "def flax():\n    from flax import linen as nn\n    return nn.Odd\n\n"
        "def net():\n    return torch.nn.Linear(2, 2)\n"
    )
    assert main(["port", str(package), "-o", str(tmp_path / "out"), "-q"]) == 0
    text = (tmp_path / "out" / "use.py").read_text()
    assert "    from .parts import make" in text and "nn.Dense(2, 2)" in text
