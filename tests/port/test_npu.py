"""`--target torch-npu` leaves PyTorch in place and every mention of CUDA behind."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.port.tree import PortedTree

PROGRAM = '''\
"""Runs on cuda."""
import os
import torch
import torch.nn as nn
from torch.cuda.amp import GradScaler, autocast

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
größe = "ä"; torch.distributed.init_process_group(backend='nccl')
model = nn.Linear(2, 2).cuda(non_blocking=True).to(f"cuda:{0}")
print("moved to cuda", model.weight.is_cuda, torch.cuda.max_memory_allocated())
'''

EXPECTED = '''\
"""Runs on cuda."""
import os
import torch
import torch.nn as nn
from torch_npu.npu.amp import GradScaler, autocast
import torch_npu

os.environ["ASCEND_RT_VISIBLE_DEVICES"] = "0"
device = torch.device("npu:0" if torch.npu.is_available() else "cpu")
größe = "ä"; torch.distributed.init_process_group(backend='hccl')
model = nn.Linear(2, 2).npu(non_blocking=True).to(f"npu:{0}")
print("moved to cuda", model.weight.is_npu, torch.npu.max_memory_allocated())
'''


def ported(tree: PortedTree, name: str = "train.py") -> str:
    return tree.files[Path(name)].text


def test_a_program_moves_to_npu_and_prose_stays(port_files) -> None:
    tree = port_files({"p/train.py": PROGRAM}, "p", npu=True)
    assert ported(tree) == EXPECTED
    assert not tree.findings and not tree.helpers


def test_a_second_run_changes_nothing(port_files) -> None:
    tree = port_files({"p/train.py": EXPECTED}, "p", npu=True)
    assert not tree.files[Path("train.py")].changed


def test_files_without_torch_are_left_alone(port_files) -> None:
    source = 'from a import cuda\nx.cuda("cuda")\n'
    tree = port_files({"p/other.py": source}, "p", npu=True)
    assert ported(tree, "other.py") == source


def test_what_torch_npu_lacks_is_reported(port_files) -> None:
    source = "import torch\nfrom apex import amp\ntorch.cuda.nvtx.range_push('a')\n"
    tree = port_files({"p/train.py": source}, "p", npu=True)
    assert [(f.line, f.api) for f in tree.findings] == [(2, "apex"), (3, "torch.cuda.nvtx")]
    assert all(f.next_step for f in tree.findings)


def test_the_reference_moves_with_few_lines(tmp_path: Path) -> None:
    folder = Path(__file__).resolve().parents[2] / "reference_pt"
    assert main(["port", str(folder), "-o", str(tmp_path / "npu"), "--target", "torch-npu"]) == 0
    before = (folder / "train.py").read_text().splitlines()
    after = (tmp_path / "npu" / "train.py").read_text().splitlines()
    changes = [line for line in difflib.ndiff(before, after) if line.startswith("+ ")]
    assert "+ import torch_npu" in changes
    assert any('backend="hccl"' in line for line in changes)
    assert len(changes) < 12
    assert (folder / "losses.py").read_text() == (tmp_path / "npu" / "losses.py").read_text()


def test_scaffold_and_torch_npu_exclude_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text("import torch\n")
    arguments = ["port", str(tmp_path), "-o", str(tmp_path / "out"), "--scaffold"]
    assert main([*arguments, "--target", "torch-npu"]) == 2
    assert "keeps PyTorch" in capsys.readouterr().err
