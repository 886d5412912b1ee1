"""torchvision's ResNet, told twice: by analyze from the text, and by running it with probes in.

The probes know nothing of the resolver: the module is rewritten so that every name and attribute
that is read reports the object it was read from, and then networks are built and run. What they
saw and what analyze says must be the same places.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from migrate.cli import main

# Read only where trained weights are fetched; all else must have been seen at work.
NOT_RUN = {"load_state_dict", "_ovewrite_named_param"}


def observe() -> tuple[str, list[tuple[int, int, str]], list[tuple[int, int, str]]]:
    """Run in a fresh interpreter: (path, torch references seen, all references that were read).

    A reference is its line, its column from 1, and the last part of its name.
    """
    import ast
    import importlib.util
    import pathlib
    import sys
    import types

    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    import torch
    import torchvision.models.resnet as original

    path = pathlib.Path(original.__file__)
    seen: set[tuple[int, int, str]] = set()
    ran: set[tuple[int, int, str]] = set()
    roots = ("torch", "torchvision")

    def from_library(value: object) -> bool:
        name = getattr(value, "__name__", "") if isinstance(value, types.ModuleType) else ""
        return name.partition(".")[0] in roots and name != original.__name__

    def read(owner: object, name: str, line: int, column: int) -> object:
        """Stands in the place of `owner.name`."""
        item = (line, column + 1, name)
        ran.add(item)
        value = getattr(owner, name)
        if from_library(owner):
            is_torch = not from_library(value)
        elif isinstance(owner, torch.nn.Module):
            own = type(owner).__module__.startswith("torch.nn")
            stored = own and name in (*owner._parameters, *owner._buffers)
            is_torch = stored or hasattr(torch.nn.Module, name)
        else:
            is_torch = isinstance(owner, torch.Tensor) and hasattr(torch.Tensor, name)
        if is_torch:
            seen.add(item)
        return value

    def name(value: object, name: str, line: int, column: int) -> object:
        """Stands in the place of a name that an import from torch or torchvision bound."""
        ran.add((line, column + 1, name))
        if not isinstance(value, types.ModuleType):
            seen.add((line, column + 1, name))
        return value

    tree = ast.parse(path.read_text())
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        and (node.level or (node.module or "").partition(".")[0] in roots)
        for alias in node.names
    }

    class Probe(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            self.generic_visit(node)
            return self.call("_read", node, node.value, node.attr) if _loads(node) else node

        def visit_Name(self, node: ast.Name) -> ast.AST:
            if _loads(node) and node.id in imported:
                return self.call("_name", node, node, node.id)
            return node

        def call(self, function: str, node: ast.expr, value: ast.expr, name: str) -> ast.AST:
            place = [ast.Constant(name), ast.Constant(node.lineno), ast.Constant(node.col_offset)]
            made = ast.Call(ast.Name(function, ast.Load()), [value, *place], [])
            return ast.copy_location(made, node)

    def _loads(node: ast.expr) -> bool:
        return isinstance(node.ctx, ast.Load)  # type: ignore[attr-defined]

    probed = ast.fix_missing_locations(Probe().visit(tree))
    spec = importlib.util.spec_from_loader("torchvision.models.resnet", loader=None)
    module = types.ModuleType("torchvision.models.resnet")
    module.__package__ = "torchvision.models"
    module.__spec__ = spec
    module.__dict__.update(_read=read, _name=name)
    sys.modules["torchvision.models.resnet"] = module
    original._api = sys.modules["torchvision.models._api"]
    original._api.BUILTIN_MODELS.clear()  # register_model refuses a second resnet18
    exec(compile(probed, str(path), "exec"), module.__dict__)
    for builder, options in (
        (module.resnet18, {"zero_init_residual": True}),
        (module.resnet50, {"zero_init_residual": True}),
        (module.resnet50, {"replace_stride_with_dilation": [False, True, True]}),
        *((getattr(module, name), {}) for name in ("resnet34", "resnext50_32x4d")),
    ):
        builder(num_classes=3, **options)(torch.zeros(2, 3, 32, 32)).sum().backward()
    for block in (module.BasicBlock, module.Bottleneck):
        block(64, 64 // block.expansion)(torch.zeros(2, 64, 8, 8))
    with torch.device("meta"):  # the large ones are built, not computed
        for name_ in ("resnet101", "resnet152", "resnext101_32x8d", "resnext101_64x4d"):
            getattr(module, name_)()
        for name_ in ("wide_resnet50_2", "wide_resnet101_2"):
            getattr(module, name_)()
    return str(path), sorted(seen), sorted(ran)


@pytest.mark.frameworks
def test_every_torch_use_of_resnet_is_reported_and_none_invented(
    run_in_worker: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    path, seen, ran = run_in_worker(observe)
    main(["analyze", path, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    reported = {
        (place["line"], place["column"], row["torch"].rpartition(".")[2])
        for row in document["operators"]
        for place in row["places"]
    }
    missed = set(seen) - reported
    assert missed == set(), "seen at work, not reported"
    invented = reported & set(ran) - set(seen)
    assert invented == set(), "reported, but at work it was something else"
    never_run = {name for _, _, name in reported - set(ran)}
    assert never_run <= NOT_RUN
    assert len(seen) > 100
    assert document["summary"]["unknown_receivers"] == 0
    assert Path(path).name == "resnet.py"
