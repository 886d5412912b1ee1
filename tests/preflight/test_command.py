"""The command, end to end: the reference model and a whole program in the real dry run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from migrate.cli import main

CHECKOUT = Path(__file__).resolve().parents[2]
MODEL = """
import mindspore
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1)
        self.pool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        self.head = nn.Dense(4, 10)

    def construct(self, x):
        x = self.conv(x)
        x = self.pool(x)
        return self.head(x.mean((2, 3)))


class Median(nn.Cell):
    def __init__(self):
        super().__init__()
        self.head = nn.Dense(4, 10)

    def construct(self, x):
        x = self.head(x)
        return ops.median(x)[0]


class Widths(nn.Cell):
    def __init__(self):
        super().__init__()
        rates = [rate.item() for rate in ops.linspace(0.0, 0.5, 2)]
        widths = (ops.arange(1, 3).float() * 4).int().tolist()
        sizes = [4, *widths]
        layers = [nn.Dense(a, b) for a, b in zip(sizes, widths)]
        self.layers = nn.SequentialCell(*layers, nn.Dropout(p=rates[1]))
        self.scale = ops.arange(1, 9).float()

    def construct(self, x):
        return self.layers(x) * self.scale


class OnAscend(Widths):
    def __init__(self):
        if mindspore.get_context("device_target") != "Ascend":
            raise RuntimeError("no kernel")
        super().__init__()
"""
PROGRAM = """
import sys
import mindspore
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

mindspore.set_device("CPU")


class Data:
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return np.ones((4,), np.float32), np.int32(0)


net = nn.Dense(4, int(sys.argv[1]) + int(ops.zeros((1,), mindspore.int32)[0]))
optimizer = nn.SGD(net.trainable_params(), 0.1)
step = mindspore.value_and_grad(
    lambda x, y: ops.cross_entropy(net(x), y), None, net.trainable_params()
)
seen = 0
loader = ds.GeneratorDataset(Data(), ["x", "y"]).batch(8)
for epoch in range(100):
    for x, y in loader.create_tuple_iterator():
        loss, gradients = step(x, y)
        optimizer(gradients)
        seen += 1
        print("step", seen, loss.item())
    mindspore.save_checkpoint(net, "last.ckpt")
    open("seen.txt", "w").write("overwritten")
"""


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["preflight", *arguments[:1], "--format", "json", "--quiet", *arguments[1:]])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, document


@pytest.mark.frameworks
def test_a_slow_kernel_is_named_by_line_in_both_modes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    before = dict(os.environ)
    code, document = _run(
        capsys, f"{path}:Net", "--input", "2,3,8,8", "--classes", "10", "--mode", "both"
    )
    assert code == 1
    assert dict(os.environ) == before
    assert [run["mode"] for run in document["runs"]] == ["pynative", "graph"]
    line = MODEL.splitlines().index("        x = self.pool(x)") + 1
    for run in document["runs"]:
        assert run["complete"] and run["peak_memory_bytes"] > 0
        assert run["kernels"]["aclnn"] > 0 and run["kernels"]["aclop"] > 0
        found = {(f["operator"], f["gradient"]) for f in run["findings"]}
        assert found == {("MaxPool3DWithArgmax", False), ("MaxPool3DGradWithArgmax", True)}
        places = [place for f in run["findings"] for place in f["places"]]
        assert {(Path(p["file"]).name, p["line"]) for p in places} == {("net.py", line)}
        (at_pool,) = (one for one in run["lines"] if one["line"] == line)
        assert at_pool["forward"]["AI CPU"] == at_pool["gradient"]["AI CPU"] == 1
        # Convolution, bias and head: forward and gradient of each is a kernel of its own.
        operators = {o["operator"]: o["count"] for o in run["operators"]}
        assert operators["Conv2D"] == 1 and operators["Conv2DBackpropFilter"] == 1
    assert any("values" in limit for limit in document["not_checked"])


@pytest.mark.frameworks
def test_a_model_that_computes_its_structure_is_built_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    code, document = _run(capsys, f"{path}:Widths", "--input", "2,4", "--classes", "8")
    assert code == 0, document["runs"]
    line = next(n for n, text in enumerate(MODEL.splitlines(), 1) if "* self.scale" in text)
    for run in document["runs"]:
        # Two layers, of 4 and 8 numbers, and a dropout that does not drop everything.
        operators = {o["operator"]: o["count"] for o in run["operators"]}
        assert any("Dropout" in name for name in operators), operators
        assert operators["BiasAdd"] == 2
        (at_call,) = (one for one in run["lines"] if one["line"] == line)
        assert sum(at_call["forward"].values()) >= 4


@pytest.mark.frameworks
def test_a_model_built_from_numbers_that_were_not_computed_is_not_called_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    code, document = _run(
        capsys, f"{path}:OnAscend", "--input", "2,4", "--classes", "4", "--mode", "pynative"
    )
    (run,) = document["runs"]
    found = [f for f in run["findings"] if f["problem"] == "undecided"]
    reads = ("rates = ", "widths = ")
    lines = [n for n, text in enumerate(MODEL.splitlines(), 1) if text.strip().startswith(reads)]
    assert code == 1 and run["verdict"] != "accepted"
    places = [(Path(p["file"]).name, p["line"]) for p in found[0]["places"]]
    assert places == [("net.py", line) for line in lines]


@pytest.mark.frameworks
def test_graph_mode_falls_back_to_the_host_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    code, document = _run(capsys, f"{path}:Median", "--input", "2,4", "--eval", "--mode", "graph")
    (finding,) = document["runs"][0]["findings"]
    assert code == 1
    assert finding["problem"] == "runs on the host CPU" and finding["operator"] == "Median"
    line = MODEL.splitlines().index("        return ops.median(x)[0]") + 1
    assert [place["line"] for place in finding["places"]] == [line]


@pytest.mark.frameworks
def test_a_program_runs_its_first_steps_and_replaces_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "seen.txt").write_text("mine")
    monkeypatch.chdir(tmp_path)
    code, document = _run(
        capsys, "train.py", "--mode", "pynative", "--steps", "3", "--keep", "kept", "--", "10"
    )
    (run,) = document["runs"]
    assert code == 0, run
    assert (tmp_path / "kept/pynative/stdout").read_text().count("step") == 3
    assert (tmp_path / "seen.txt").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept", "seen.txt", "train.py"]
    notes = " ".join(run["notes"])
    assert "at most 3 batches" in notes and "Ascend was used instead" in notes
    assert "checkpoints were not written" in notes and "seen.txt" in notes
    line = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if text.startswith("net = "))
    assert f"numbers were read from tensors at train.py:{line}, where" in notes


PORTED = """
import mindspore
import ms_migrate_helpers as helpers
import numpy as np
from mindspore import nn, ops


class Data(helpers.Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return np.ones((4,), np.float32), 0


net = nn.Dense(4, 10)
step = mindspore.value_and_grad(
    lambda x, y: ops.cross_entropy(net(x), y), None, net.trainable_params()
)
loader = helpers.DataLoader(Data(), batch_size=8, pin_memory=True)
for epoch in range(3):
    for x, y in loader:
        print("step", step(x, y.astype(mindspore.int32))[0].shape)
"""


@pytest.mark.frameworks
def test_a_ported_loader_gives_its_batches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from migrate.emit.bundle import helper_module

    (tmp_path / "ms_migrate_helpers.py").write_text(helper_module(["DataLoader", "Dataset"], {}))
    (tmp_path / "train.py").write_text(PORTED)
    monkeypatch.chdir(tmp_path)
    code, document = _run(
        capsys, "train.py", "--mode", "pynative", "--steps", "2", "--keep", "kept"
    )
    (run,) = document["runs"]
    assert code == 0, run
    assert (tmp_path / "kept/pynative/stdout").read_text().count("step") == 2
    assert {"BiasAddGrad", "MatMul"} & {o["operator"] for o in run["operators"]}, run["operators"]


@pytest.mark.frameworks
def test_the_collectives_of_a_data_parallel_step_are_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    given = ["--input", "2,3,8,8", "--classes", "10", "--mode", "pynative"]
    _, alone = _run(capsys, f"{path}:Net", *given)
    _, group = _run(capsys, f"{path}:Net", *given, "--ranks", "2")
    assert "collective" not in alone["runs"][0]["kernels"]
    # One for each trainable parameter: the convolution has a weight, the head weight and bias.
    assert group["runs"][0]["kernels"]["collective"] == 3
    assert any("process 0 of 2" in note for note in group["runs"][0]["notes"])


DISTRIBUTED = """
import os
import mindspore
import ms_migrate_helpers as helpers
from mindspore import nn

helpers.init_process_group("nccl", world_size=int(os.environ["WORLD_SIZE"]))
assert (helpers.get_rank(), helpers.get_world_size()) == (0, 2)
found = [None, None]
helpers.all_gather_object(found, {"rank": helpers.get_rank()})
assert found == [{"rank": 0}, {"rank": 0}]
print(helpers.all_reduce(mindspore.ops.ones((3,), mindspore.float32)).shape)
"""


@pytest.mark.frameworks
def test_a_ported_program_forms_its_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from migrate.emit.bundle import helper_module

    names = ["init_process_group", "get_rank", "get_world_size", "all_gather_object", "all_reduce"]
    (tmp_path / "ms_migrate_helpers.py").write_text(helper_module(names, {}))
    path = tmp_path / "train.py"
    path.write_text(DISTRIBUTED)
    code, document = _run(capsys, str(path), "--mode", "pynative", "--ranks", "2")
    (run,) = document["runs"]
    assert code == 0, run["findings"]
    assert run["kernels"]["collective"] == 1
    line = DISTRIBUTED.splitlines().index(
        "print(helpers.all_reduce(mindspore.ops.ones((3,), mindspore.float32)).shape)"
    )
    assert [one["line"] for one in run["lines"] if "collective" in one["forward"]] == [line + 1]


@pytest.mark.frameworks
def test_a_program_that_fails_is_not_called_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.py"
    path.write_text("import argparse\n\nargparse.ArgumentParser().parse_args()\n")
    code, document = _run(capsys, str(path), "--mode", "pynative", "--", "--unknown")
    (run,) = document["runs"]
    assert code == 1 and run["verdict"] == "program failed"
    (finding,) = run["findings"]
    assert "unrecognized arguments: --unknown" in finding["message"]
    assert [place["line"] for place in finding["places"]] == [3]


@pytest.mark.frameworks
def test_a_program_that_starts_no_kernel_is_not_called_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    code, document = _run(capsys, str(path), "--mode", "pynative")
    (run,) = document["runs"]
    assert code == 1 and run["verdict"] == "undecided" and not run["kernels"]
    assert "without starting a kernel" in run["findings"][0]["message"]


_OFFERED, _NO_PYTHON = (
    "test_a_program_that_fails_is_not_called_refused",
    "cannot ask this interpreter",
)


def _filled(word: str) -> str:
    return word.replace("{here}", __file__).replace("{folder}", str(Path(__file__).parent))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.py:net", "--input", "1,2"], "no such file"),
        (["absent.py"], "no such file"),
        (["{here}:net"], "nothing to feed the model"),
        (["{here}", "--classes", "10"], "--classes is for a TARGET"),
        (["{here}:net", "--input", "1,2", "--", "--lr"], "takes no program arguments"),
        (["{here}:net", "--input", "1,2", "--steps", "0"], "takes no step"),
        (["{here}:net", "--input", "1,2", "--ranks", "0"], "is not a number of processes"),
        (["{here}:net", "--input", "1,2", "--timeout", "0"], "must be positive"),
        (["{here}:net", "--input", "1,2", "--memory-limit", "0"], "must be positive"),
        (["{folder}", "--input", "1,2"], "is a folder"),
        ([f"{CHECKOUT / 'reference_pt' / 'train.py'}"], "imports torch, and no MindSpore"),
        (["{here}:net", "--input", "1,2", "--original", "absent"], "no such file or folder"),
        (["{here}:net", "--input", "1,2"], "there is no 'net' here"),
        ([f"{{here}}:{_OFFERED}", "--input", "1,2", "--ms-python", "/absent"], _NO_PYTHON),
    ],
)
def test_wrong_requests_are_refused_with_one_message(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["preflight", *(_filled(word) for word in arguments)])
    assert code == 2
    assert message in capsys.readouterr().err
