"""Reading MindSpore's log, graphs and errors, from lines as it writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.preflight import graph_ir, messages
from migrate.preflight.child.line_markers import UserFiles
from migrate.preflight.log_reader import Log, LogReader
from migrate.preflight.originals import original_line
from migrate.preflight.result import Kernel, Kind, Place, Problem

HEAD = "[DEBUG] PYNATIVE(1,7f,python):2026-01-01-00:00:00.000.000 [mindspore/ccsrc/pynative/"


def read(*lines: str) -> Log:
    reader = LogReader()
    for line in lines:
        reader.feed(line)
    return reader.log


def test_eager_kernels_belong_to_the_line_before_them() -> None:
    log = read(
        "[ms-migrate] at /p/net.py:7",
        f"{HEAD}a.cc:1] relu_impl] In relu impl function",
        f"{HEAD}b.cc:1] RunInner] RunOp name Conv2D device Ascend id 0 with static shape",
        "[INFO] DEVICE(1) x.cc:1] GenerateKernelMod] kernel opname:Conv2D, kernel type:acl_kernel",
        "[INFO] DEVICE(1) DoStreamAssign] start stream assign, pynative_kernel_graph4000000000",
        "[ms-migrate] at -",
        f"{HEAD}b.cc:1] RunInner] RunOp name SGD device CPU id 0 with static shape",
    )
    assert log.eager_kernels() == {
        Kernel("Relu", Kind.ACLNN, Place("/p/net.py", 7)): 1,
        Kernel("Conv2D", Kind.ACLOP, Place("/p/net.py", 7)): 1,
        Kernel("SGD", Kind.HOST): 1,
    }
    assert not log.compiled


def test_gradients_belong_to_the_line_of_their_forward_operator() -> None:
    log = read(
        f"{HEAD}grad.cc:1] Init] Make new topest graph",
        "[ms-migrate] at /p/net.py:7",
        f"{HEAD}f.cc:1] KPynativeOp] Begin KPynativeOp, prim: Conv2D",
        f"{HEAD}f.cc:1] UpdateNextEdges] Get input size 2",
        "[ms-migrate] at /p/net.py:8",
        f"{HEAD}f.cc:1] UpdateNextEdges] Get input size 1",
        "[ms-migrate] at -",
        f"{HEAD}f.cc:1] BackPropagate] Begin calculate op: Conv2D-0 gradients!",
        f"{HEAD}b.cc:1] RunInner] RunOp name Conv2DBackpropInput device Ascend id 0 with x",
        f"{HEAD}f.cc:1] BackPropagate] Begin calculate op: MatMul-0 gradients!",
        f"{HEAD}a.cc:1] matmul_impl] In matmul impl function",
        f"{HEAD}f.cc:1] BackPropagate] End BackPropagate",
        f"{HEAD}a.cc:1] add_impl] In add impl function",
    )
    assert log.eager_kernels() == {
        Kernel("Conv2DBackpropInput", Kind.ACLOP, Place("/p/net.py", 7), gradient=True): 1,
        # Another operator than the one that was numbered so: no line rather than a wrong one.
        Kernel("Matmul", Kind.ACLNN, None, gradient=True): 1,
        Kernel("Add", Kind.ACLNN): 1,
    }


def test_kernels_of_a_compiled_graph_are_counted_once_it_is_built() -> None:
    log = read(
        "[INFO] DEVICE(1) kernel opname:Eig, kernel type:acl_kernel",
        "[INFO] DEVICE(1) kernel opname:Add, kernel type:opapi_kernel",
        "[INFO] DEVICE(1) Try to use backoff CPU kernel, node:Default/Median-op0",
        "[INFO] DEVICE(1) DoStreamAssign] Status record: start stream assign, kernel_graph0",
    )
    assert log.compiled == {"Eig": 1, "Add": 1}
    assert log.kind_of("Eig") is Kind.AI_CPU
    assert log.kind_of("Add") is Kind.ACLNN
    assert log.kind_of("Median") is Kind.HOST


def test_an_aclnn_kernel_is_not_on_the_ai_cpu_for_its_aclop_adapter() -> None:
    log = read(
        "[ms-migrate] ai_cpu GatherDGradV2",
        "[INFO] DEVICE(1) kernel opname:GatherDGradV2, kernel type:opapi_kernel",
    )
    assert log.kind_of("GatherDGradV2") is Kind.ACLNN


def test_what_ran_before_the_program_does_not_count() -> None:
    log = read(f"{HEAD}a.cc:1] zeros_impl] In zeros impl function", "[ms-migrate] begin")
    assert not log.eager_kernels()


def test_graphs_name_the_users_innermost_line(tmp_path: Path) -> None:
    (tmp_path / "graph_build_0_0001.ir").write_text(
        "  %4(out) = MaxPool3DWithArgmax(%3) {instance name: max_pool}\n"
        "      : (<Tensor[Float32], (2, 8)>) -> (<Tensor[Float32], (2, 8)>)\n"
        "      # Fullname with scope: (Gradients/Default/Grad_Max/MaxPool3DWithArgmax-op0)\n"
        "      # In file /p/net.py:14~19, 4~24/    def construct(self, x):/\n"
        "      # In file /p/net.py:17, 10~16/        x = self.p(x)/\n"
        "      # In file /site/mindspore/pooling.py:597, 18~34/   out = self.max_pool(x)/\n"
        "  %5(other) = PrimFunc_ReLU(%4) primitive_attrs: {}\n"
    )
    pool, relu = graph_ir.nodes(tmp_path)
    assert pool.operator == "MaxPool3DWithArgmax" and pool.gradient
    assert pool.place(lambda file: file.startswith("/p/")) == Place("/p/net.py", 17)
    assert relu.operator == "ReLU" and relu.place(lambda file: True) is None


@pytest.mark.parametrize(
    ("kind", "text", "problem", "operator"),
    [
        (
            "RuntimeError",
            "The current operator needs to be supplemented with an adapter, please check. "
            "node is Default/Median-op0",
            Problem.NO_KERNEL,
            "Median",
        ),
        (
            "TypeError",
            "For primitive[ReLU6], the input argument[x] must be a type of {Tensor[Float16]}",
            Problem.DTYPE,
            "ReLU6",
        ),
        (
            "RuntimeError",
            "For aclnnNonzero, the output shape depends on the actual execution",
            Problem.UNDECIDED,
            "Nonzero",
        ),
        (
            "RuntimeError",
            "The dry run mode can not support dynamic shape graph which contains value depend or "
            "computing depend kernel:Default/NonZero-op0, launch kernel is skipped",
            Problem.UNDECIDED,
            "NonZero",
        ),
        ("FileNotFoundError", "No such file: 'data'", Problem.FAILED, ""),
        ("AttributeError", "'Net' object has no attribute 'x'", Problem.FAILED, ""),
    ],
)
def test_errors_are_told_by_their_text(
    kind: str, text: str, problem: Problem, operator: str
) -> None:
    meaning = messages.meaning(kind, text)
    assert (meaning.problem, meaning.operator) == (problem, operator)


def test_the_line_of_the_original_is_found(tmp_path: Path) -> None:
    original, ported = tmp_path / "torch.py", tmp_path / "ms.py"
    original.write_text(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        y = self.a(x)\n        return self.b(y)\n"
    )
    ported.write_text(
        "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x):\n"
        "        y = self.a(x)\n        return self.b(y)\n\n\ndef extra():\n    pass\n"
    )
    assert original_line(ported, original, 6) == 7
    assert original_line(ported, original, 7) == 8
    assert original_line(ported, original, 11) == 0


def test_packages_of_another_environment_are_not_the_programs_files(tmp_path: Path) -> None:
    """A path file or PYTHONPATH may lead to them; each line of theirs used to be followed."""
    elsewhere = tmp_path / "base" / "lib" / "site-packages"
    files = UserFiles([str(tmp_path / "program")], (str(tmp_path / "wheels" / "mindspore"),))
    assert not files.has(str(elsewhere / "mindspore" / "nn" / "cell.py"))
    assert not files.has(str(tmp_path / "wheels" / "mindspore" / "ops.py"))
    assert files.has(str(tmp_path / "program" / "net.py"))
    assert files.has(str(tmp_path / "beside" / "data.py"))
    inside = UserFiles([str(elsewhere / "theirs")])
    assert inside.has(str(elsewhere / "theirs" / "net.py"))
