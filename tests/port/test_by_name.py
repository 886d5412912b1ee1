"""torch looked up by a name that only the running program knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from migrate import cli

HEAD = "import importlib\nimport torch\nfrom torch import nn, optim\n\n\n"


def codes(result) -> list[str]:
    return [finding.code for finding in result.findings]


@pytest.mark.parametrize(
    ("source", "ported"),
    [
        (
            "def make(name, p):\n    return getattr(optim, name)(p, lr=0.1)\n",
            "getattr(helpers.optimizers_by_name, name)(p, lr=0.1)",
        ),
        (
            "def make(name, p):\n    return torch.optim.__dict__[name](p)\n",
            "vars(helpers.optimizers_by_name)[name](p)",
        ),
        (
            "def make(name, o):\n    return getattr(optim.lr_scheduler, name)(o, 3)\n",
            "getattr(helpers.schedules_by_name, name)(o, 3)",
        ),
        (
            "def init_obj(module, name, *rest):\n    return getattr(module, name)(*rest)\n\n\n"
            "o = init_obj(torch.optim, 'SGD', [])\n",
            "init_obj(helpers.optimizers_by_name, 'SGD', [])",
        ),
    ],
)
def test_optimizers_and_schedules_are_found_by_their_names(port, source: str, ported: str) -> None:
    result = port(HEAD + source)
    assert not result.findings
    assert ported in result.text


@pytest.mark.parametrize(
    "expression", ["getattr(nn, name)()", "nn.__dict__[name]()", "getattr(torch, name)"]
)
def test_other_namespaces_are_left_to_the_reader(port, expression: str) -> None:
    assert codes(port(HEAD + f"def make(name):\n    return {expression}\n")) == ["MS311"]


@pytest.mark.parametrize(
    "body",
    [
        "if name in ['ReLU', 'Tanh']:\n        return getattr(nn, name)()",
        "assert name in ['ReLU', 'Tanh']\n    if x:\n        return getattr(nn, name)()",
    ],
)
def test_a_test_that_holds_says_what_a_name_can_be(port, body: str) -> None:
    result = port(HEAD + f"def make(name, x):\n    {body}\n")
    assert not result.findings
    assert "{'ReLU': helpers.ReLU, 'Tanh': nn.Tanh}[name]()" in result.text


@pytest.mark.parametrize(
    "body",
    [
        "if name in ['ReLU', 'Tanh']:\n        name = x\n        return getattr(nn, name)()",
        "if x:\n        assert name in ['ReLU', 'Tanh']\n    return getattr(nn, name)()",
    ],
)
def test_a_test_of_another_value_says_nothing(port, body: str) -> None:
    """The name is bound anew behind the test, or there is a way round the assertion."""
    result = port(HEAD + f"def make(name, x):\n    {body}\n")
    assert codes(result) == ["MS311"]


@pytest.mark.parametrize(
    "expression",
    [
        "eval('nn.' + name)()",
        "eval(f'torch.nn.{name}')",
        "importlib.import_module('torch.nn')",
        "find('torch.nn.Conv2d')",
    ],
)
def test_text_that_names_torch_is_flagged(port, expression: str) -> None:
    result = port(HEAD + f"def make(name, find):\n    return {expression}\n")
    assert codes(result) == ["MS317"]
    assert result.text.count("# ms-migrate: MS317") == 1


@pytest.mark.parametrize(
    "expression",
    [
        "eval('1 + ' + name)",
        "'torch.pt'",
        "importlib.import_module(name)",
        "'see torch.nn.Conv2d for more'",
        "'torch.distributed'",
    ],
)
def test_other_text_is_not(port, expression: str) -> None:
    source = HEAD + f"x = torch.ones(2)\n\n\ndef make(name):\n    return {expression}\n"
    assert codes(port(source)) == []


def test_a_member_of_a_plain_value(port) -> None:
    result = port(HEAD + "major = int(torch.__version__.split('.')[0])\n")
    assert not result.findings
    assert "major = int(mindspore.__version__.split('.')[0])" in result.text


def test_what_is_handed_through_keeps_its_type(port) -> None:
    source = """\
        import torch
        from torch import nn

        model = torch.compile(nn.Linear(2, 2), mode="max-autotune")
        model.eval()
        print(torch.jit.script(model)(torch.ones(1, 2)).size())


        @torch.compile
        def double(x: torch.Tensor):
            return x.size(0) * 2
        """
    result = port(source)
    assert not result.findings
    assert "model = nn.Dense(2, 2)\nmodel.set_train(False)\n" in result.text
    assert "print(helpers.Size(model(ops.ones((1, 2))).shape))" in result.text
    assert "\n\ndef double(x: Tensor):" in result.text


@pytest.mark.parametrize(
    ("namespace", "piece"),
    [
        ("torch.optim", "optimizers_by_name"),
        ("torch.optim.lr_scheduler", "schedules_by_name"),
    ],
)
def test_every_class_that_is_ported_can_be_found_by_name(table, namespace: str, piece: str) -> None:
    from migrate.table.helper_pieces import helper_index

    (text,) = (
        definition.source
        for definition in helper_index().closure([piece])
        if definition.source.startswith(f"class {piece}")
    )
    held = {line.split()[0] for line in text.splitlines() if " = " in line}
    bases = {"Optimizer", "LRScheduler", "_LRScheduler"}
    rows = table.children(namespace)
    wanted = {
        name.rpartition(".")[2]
        for name, entry in rows.items()
        if entry.kind == "class" and entry.status != "missing"
    }
    assert wanted - bases <= held


@pytest.mark.parametrize(
    "test",
    [
        "if kind in ['LSTM', 'GRU']:\n        return getattr(nn, kind)(3, 4)",
        "if kind == 'LSTM' or kind == 'GRU':\n        return getattr(torch.nn, kind)(3, 4)",
        "assert kind in ('LSTM', 'GRU')\n    return getattr(nn, kind)(3, 4)",
    ],
)
def test_a_test_around_says_what_the_name_can_be(port, test: str) -> None:
    result = port(HEAD + f"def make(kind):\n    {test}\n")
    assert not result.findings
    assert "{'LSTM': helpers.LSTM, 'GRU': helpers.GRU}[kind](3, 4)" in result.text


def test_a_name_that_can_be_anything_stays_a_finding(port) -> None:
    result = port(
        HEAD + "def make(kind):\n    if kind != 'LSTM':\n        return getattr(nn, kind)(3)\n"
    )
    assert codes(result) == ["MS311"]


def test_text_that_is_called_as_a_layer_is_reported(port) -> None:
    body = "    m = eval(m) if isinstance(m, str) else m\n    return m(*args)\n"
    text = "import torch.nn as nn\n\n\ndef build(m, args):\n" + body + "\n\nrelu = nn.ReLU()\n"
    assert codes(port(text)) == ["MS317"]
    assert codes(port(text.replace("return m(*args)", "return m"))) == []


@pytest.mark.parametrize(
    "text",
    [
        'm = __import__("torch")\nx = m.ones(1)\n',
        'import importlib\nm = importlib.import_module("torch")\nx = m.ones(1)\n',
        'from importlib import import_module as load\nm = load("torch.nn")\nx = m.ReLU()\n',
        'm = __import__("tor" "ch")\nx = m.ones(1)\n',
        'm = __import__("tor" + "ch")\nx = m.ones(1)\n',
        'm = __import__("\\x74orch")\nx = m.ones(1)\n',
        'm = __import__(f"torch")\nx = m.ones(1)\n',
        'import sys\nx = sys.modules["torch"].ones(1)\n',
        'from sys import modules\nx = modules.get("torch").ones(1)\n',
        'exec("import torch\\nx = torch.ones(1)")\n',
        'exec("""\nimport os; from torch import nn\n""")\n',
        'x = eval("torch.ones(1)")\n',
    ],
)
def test_torch_that_no_import_shows_is_no_silence(text: str, tmp_path: Path, capsys) -> None:
    """Such files had nothing to do with torch, and the exit code was 0."""
    (tmp_path / "a.py").write_text(text)
    assert cli.main(["analyze", str(tmp_path / "a.py"), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [row["code"] for row in found["actions"]] == ["MS317"]
    assert cli.main(["port", str(tmp_path / "a.py"), "-o", str(tmp_path / "out")]) == 1
    assert "# ms-migrate: MS317" in (tmp_path / "out/a.py").read_text()


@pytest.mark.parametrize(
    "text",
    [
        'm = __import__("numpy")\n',
        'import sys\nx = sys.modules["t"]\n',
        'x = {"t": 1}["t"]\nmodules = {"torches": 1}\ny = modules["torches"]\n',
        'exec("print(1)")  # not torch\n',
        'import importlib\nm = importlib.import_module("t" + name)\n',
    ],
)
def test_other_text_is_no_finding(text: str, tmp_path: Path, capsys) -> None:
    (tmp_path / "a.py").write_text(text)
    assert cli.main(["analyze", str(tmp_path / "a.py")]) == 0
    assert cli.main(["port", str(tmp_path / "a.py"), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out/a.py").read_text() == text
