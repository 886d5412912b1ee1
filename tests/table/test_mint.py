"""mint counterparts: their names and parameters are the installed ones, and every call binds."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from migrate.port.tree import Options, PortedTree, port_tree
from migrate.port.write_output import write_tree
from migrate.project import discover
from migrate.table import Entry, Overload, Table
from migrate.table.entry import VERSIONS, version_key
from migrate.table.mint import KINDS, gives_value, in_mint, mint_name
from tests.table.emitted_calls import ROOTS, calls_in, from_template, names_in, roots_of
from tests.table.mindspore_source import ANY, installed
from tests.table.scan_wheels import MINT, in_version, mint_names, read_facts

pytestmark = pytest.mark.frameworks

# Forms that mint has under the same name, but without an argument that they cannot do without.
WITHOUT = {
    # The order of before torch 1.5 is written as a method, which mint's tensors have as well.
    ("torch.Tensor.add", "alpha, other"),
    ("torch.Tensor.sub", "alpha, other"),
    ("torch.Tensor.addcdiv", "value, tensor1, tensor2"),
    ("torch.Tensor.addcmul", "value, tensor1, tensor2"),
    ("torch.Tensor.item", ""),  # x.item() is MindSpore's too, and reads better
    ("torch.Tensor.bernoulli", "p, *, generator=None"),
    ("torch.Tensor.scatter", "dim, index, *, value, reduce"),
    ("torch.bernoulli", "input, p, *, generator=None"),
    ("torch.special.round", "input, *, decimals, out=None"),
}


def report(problems: list[str]) -> None:
    assert not problems, "\n" + "\n".join(problems)


def rows() -> list[Entry]:
    return list({entry.torch: entry for entry in Table()}.values())


def mint_forms() -> list[tuple[Entry, Overload]]:
    return [(entry, form) for entry in rows() for form in entry.overloads if form.mint]


# The list -----------------------------------------------------------------------------------------


def test_the_list_is_what_the_scan_would_write():
    """mint.toml after its hand-written part; `python -m tests.table.scan_wheels` writes it."""
    text = MINT.read_text(encoding="utf-8")
    assert text.endswith(mint_names(read_facts())), "run python -m tests.table.scan_wheels FOLDER"


def test_every_row_that_mint_has_a_name_for_names_it():
    facts = read_facts()
    known = {name for name in facts if in_version(facts, name, VERSIONS[-1]) not in (None, ANY)}
    without = []
    for entry in rows():
        reached = mint_name(entry.torch)
        if entry.kind not in KINDS or (entry.inplace and not gives_value(entry.torch, entry.kind)):
            continue
        for form in entry.overloads:
            if reached in known and not form.mint and (entry.torch, form.params) not in WITHOUT:
                without.append(f"{entry.torch}({form.params}) beside {reached}")
    report(without)


def test_no_exception_is_idle():
    """What [differ], [written] and WITHOUT say is still needed by some row."""
    mint = Table()._mint
    reached = {form.mint for _, form in mint_forms()}
    report([f"[differ] {name}: no row leads there" for name in mint.differ if name not in reached])
    used = {entry.torch for entry, form in mint_forms() if "emit" in form.mint_facts}
    report([f"[written] {name}: no form needs it" for name in mint.written if name not in used])
    stale = {(e.torch, f.params) for e in rows() for f in e.overloads if not f.mint}
    report([f"{name} is taken now" for name in WITHOUT - stale])


@pytest.mark.parametrize("version", VERSIONS)
def test_mint_takes_what_a_row_writes(version):
    facts = read_facts()
    problems = []
    for entry, form in mint_forms():
        if version_key(form.mint_facts.get("since", "")) > version_key(version):
            continue
        shape = in_mint(form)
        if shape.emit:
            tree = from_template(shape.emit)
            for name in names_in(tree, ROOTS):
                if in_version(facts, name, version) is None:
                    problems.append(f"{entry.torch}: no {name} in {version}")
            for call in calls_in(tree, ROOTS):
                if not call.fits(in_version(facts, call.name, version) or ""):
                    problems.append(f"{entry.torch}: {call} in {version}")
            continue
        forms = in_version(facts, form.mint, version)
        if forms is None:
            problems.append(f"{entry.torch}: no {form.mint} in {version}")
            continue
        written = set(shape.pin) | set(shape.rename.values())
        if shape.signature is not None:
            gone = {*shape.drop, *shape.refuse}
            written |= {
                shape.rename.get(p.name, p.name)
                for p in shape.signature.parameters
                if p.name not in gone and p.kind not in ("varargs", "varkwargs")
            }
        unknown = [name for name in written if name not in forms]
        problems += [f"{entry.torch}: {form.mint}({forms}) has no {n}" for n in unknown]
    report(problems)


def test_mint_layers_have_the_members_that_rows_name():
    """`conv.weight` stays as it is for mint's layers: they must call it so."""
    table = Table()
    problems, count = [], 0
    for entry in rows():
        owner = table.get(entry.torch.rpartition(".")[0])
        if entry.kind == "attribute" and owner and owner.kind == "class" and owner.main.mint:
            count += 1
            name = f"{owner.main.mint}.{entry.torch.rpartition('.')[2]}"
            problems += [] if installed().find(name) else [f"{entry.torch}: there is no {name}"]
    report(problems)
    assert count > 50


def test_an_older_mindspore_does_without():
    """mint.vdot came with 2.10: before it, the classic form serves."""
    old, new = (Table(version=version).get("torch.vdot") for version in ("2.9", "2.10"))
    assert old is not None and new is not None
    assert (old.main.mint, new.main.mint) == ("", "mindspore.mint.vdot")
    assert old.main.portable


# The porter ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def zoo() -> PortedTree:
    """torchvision's models, ported to mint."""
    spec = find_spec("torchvision")
    assert spec is not None and spec.origin is not None
    models = [Path(spec.origin).parent / "models"]
    return port_tree(models, discover(models), Table(), Options(mint=True, jobs=1))


def test_every_mint_call_of_the_zoo_binds(zoo):
    count, problems = 0, []
    texts = {str(path): ported.text for path, ported in zoo.files.items()}
    texts |= {str(path): text for path, text in zoo.helpers.items()}
    for path, text in texts.items():
        tree = ast.parse(text)
        roots = roots_of(tree)
        for name in names_in(tree, roots):
            if name.startswith("mindspore.mint.") and installed().find(name) is None:
                problems.append(f"{path}: there is no {name}")
        for call in calls_in(tree, roots):
            found = installed().find(call.name) if call.name.startswith("mindspore.mint.") else None
            if found is None:
                continue
            count += 1
            if not call.fits(" | ".join(found.forms)):
                problems.append(f"{path}:{call.line}: {call} does not fit {found.forms}")
    report(problems)
    assert count > 900


def test_blocks_are_made_of_the_layers_that_the_code_tests_for(zoo):
    """A classic convolution inside a helper would be missed by isinstance(m, mint.nn.Conv2d)."""
    (helpers,) = zoo.helpers.values()
    for layer in ("Conv2d", "Conv3d", "BatchNorm2d", "BatchNorm3d", "Linear", "Dropout"):
        assert f"\n{layer} = mint.nn.{layer}\n" in helpers
    assert "class ReLU(mint.nn.ReLU):" in helpers  # torch's takes inplace
    mobilenet = next(f.text for path, f in zoo.files.items() if path.name == "mobilenetv2.py")
    assert "isinstance(m, mint.nn.Conv2d)" in mobilenet
    assert "isinstance(m, (mint.nn.BatchNorm2d, mint.nn.GroupNorm))" in mobilenet


def parameters_of(folder: str, builders: dict[str, str]) -> dict[str, tuple[dict, dict]]:
    """(torch's, MindSpore's) parameter names and shapes of the networks that builders make."""
    import importlib
    import sys

    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    sys.path.insert(0, folder)
    found = {}
    for module, builder in builders.items():
        theirs = getattr(importlib.import_module(f"torchvision.models.{module}"), builder)()
        ours = getattr(importlib.import_module(f"models.{module}"), builder)()
        found[builder] = (
            {name: tuple(value.shape) for name, value in theirs.named_parameters()},
            {value.name: tuple(value.shape) for value in ours.trainable_params()},
        )
    return found


def test_mint_networks_have_torch_parameters(zoo, tmp_path, run_in_worker):
    """The layers are made with the right arguments, and carry torch's names."""
    write_tree(zoo, tmp_path / "models", force=False)
    builders = {"mobilenetv2": "mobilenet_v2", "resnet": "resnet18"}
    for builder, (theirs, ours) in run_in_worker(parameters_of, str(tmp_path), builders).items():
        assert ours == theirs, builder


# Numbers, where mint has CPU kernels --------------------------------------------------------------

RUN = """
torch.abs(x); torch.ceil(x); torch.cos(x); torch.erf(x); torch.exp(x); torch.isnan(x); torch.log(x)
torch.rsqrt(x); torch.sigmoid(x); torch.sinc(x); torch.tanh(x); torch.t(x); torch.nonzero(x)
torch.flatten(x); torch.any(x); torch.any(x > 0.5, 1); torch.sum(x, 1, keepdim=True); torch.prod(x)
torch.mean(x, (0, 1)); torch.max(x); torch.max(x, 1); torch.max(x, y); torch.amax(x, 1)
torch.amin(x); torch.add(x, y, alpha=2); torch.sub(x, y, alpha=0.5); torch.pow(x, y)
torch.div(x, y, rounding_mode='floor'); torch.remainder(x, y); torch.clamp(x, 0.2, 0.6)
torch.cat([x, y], 1); torch.chunk(x, 2, 1); torch.split(x, 2, 1); torch.triu(x, 1)
torch.flip(x, (0, 1)); torch.permute(x, (1, 0)); torch.squeeze(x[None]); torch.where(x > 0.5, x, y)
torch.softmax(x, 1); torch.bmm(x[None], y.t()[None])
torch.lerp(x, y, 0.3); torch.zeros(2, 3); torch.ones(2, 3); torch.eye(3); torch.tile(x, (2, 1))
torch.meshgrid(x[0], y[0], indexing='ij'); torch.broadcast_to(x[0], (4, 5)); torch.nan_to_num(x)
torch.diff(x); torch.narrow(x, 1, 1, 2); torch.cross(x[:, :3], y[:, :3], dim=1); torch.polar(x, y)
F.relu(x); F.silu(x); F.hardswish(x); F.softplus(x); F.softshrink(x); F.linear(x, y)
F.smooth_l1_loss(x, y); F.binary_cross_entropy(x, y); F.binary_cross_entropy_with_logits(x, y)
F.interpolate(x[None, None], scale_factor=2); F.dropout(x, 0.5, False); F.group_norm(x[:, :4], 2)
torch.special.expm1(x); torch.special.sinc(x); x.permute(1, 0); x.view(5, 4); x.repeat(2, 1)
x.expand(4, 5); x.where(x > 0.5, y); x.flip(0); x.squeeze(); x.max(1); x.softmax(1); x.split(2)
"""


def run_both(torch_file: str, mindspore_file: str, count: int) -> list[str]:
    """The same functions of two files on the same numbers; the answer lists what differs."""
    import runpy

    import mindspore
    import numpy as np
    import torch

    mindspore.runtime.launch_blocking()
    left, right = runpy.run_path(torch_file), runpy.run_path(mindspore_file)
    random = np.random.default_rng(1)
    x, y = (random.uniform(0.05, 0.95, (4, 5)).astype(np.float32) for _ in range(2))
    wrong = []
    for number in range(count):
        wanted = left[f"f{number}"](torch.tensor(x), torch.tensor(y))
        got = right[f"f{number}"](mindspore.Tensor(x), mindspore.Tensor(y))
        wanted, got = (v if isinstance(v, (tuple, list)) else [v] for v in (wanted, got))
        for one, other in zip(wanted, got, strict=True):
            one, other = one.numpy(), other.asnumpy()
            if one.shape != other.shape or not np.allclose(one, other, rtol=1e-4, atol=1e-5):
                wrong.append(f"f{number}: {other} for {one}")
    return wrong


def test_mint_computes_what_torch_computes(
    tmp_path: Path, run_in_worker: Callable[..., Any]
) -> None:
    calls = [call for line in RUN.split("\n") for call in line.split("; ") if call]
    source = "import torch\nimport torch.nn.functional as F\n" + "".join(
        f"\n\ndef f{number}(x: torch.Tensor, y: torch.Tensor):\n    return {call}\n"
        for number, call in enumerate(calls)
    )
    path = tmp_path / "calls.py"
    path.write_text(source)
    tree = port_tree([path], discover([path]), Table(), Options(mint=True, jobs=1))
    (ported,) = tree.files.values()
    (tmp_path / "ported.py").write_text(ported.text)
    bodies = ported.text.split("return ")[1:]
    assert [body for body in bodies if not body.startswith("mint.")] == []
    assert run_in_worker(run_both, str(path), str(tmp_path / "ported.py"), len(calls)) == []
