"""A helper module has what its port asks for: by name, by argument, by class."""

from __future__ import annotations

import ast
import builtins
import itertools
from pathlib import Path

import pytest

from migrate.emit.bundle import helper_module
from migrate.emit.lean.facts import MISSING, SUMS
from migrate.emit.lean.trim import Cut, trimmed
from migrate.table.helper_pieces import helper_index

ROOT = Path(__file__).resolve().parents[2]
IMPORT = "import ms_migrate_helpers as helpers\n"


def module(names: list[str], *lines: str) -> str:
    return helper_module(
        names, {}, users=[IMPORT + "\n".join(lines) + "\n"], modules=["ms_migrate_helpers"]
    )


def test_parameters_that_no_call_gives_go_with_all_they_need() -> None:
    text = module(["max_pool2d"], "helpers.max_pool2d(x, 2)")
    assert "def max_pool2d(input, kernel_size):" in text
    assert "_max_positions" not in text and "return_indices" not in text


@pytest.mark.parametrize(
    "call",
    [
        "helpers.max_pool2d(x, 2, return_indices=True)",
        "helpers.max_pool2d(x, 2, 2, 0, 1, False, True)",
        "helpers.max_pool2d(x, *sizes)",
        "helpers.max_pool2d(x, **options)",
        "pool = helpers.max_pool2d",
        "pool = partial(helpers.max_pool2d, kernel_size=2)",
        'pool = getattr(helpers, "max_pool2d")',
    ],
)
def test_what_may_be_given_stays(call: str) -> None:
    assert "_max_positions" in module(["max_pool2d"], call)


def test_names_taken_out_of_the_module_may_be_called_in_any_way() -> None:
    text = helper_module(
        ["max_pool2d"], {}, users=["from ms_migrate_helpers import max_pool2d\nmax_pool2d(x, 2)\n"]
    )
    assert "_max_positions" in text


def test_layers_lose_what_no_layer_is_made_with() -> None:
    text = module(["MaxPool2d"], "pool = helpers.MaxPool2d(2)")
    assert "with_positions" not in text and "_max_positions" not in text
    text = module(["MaxPool2d"], "pool = helpers.MaxPool2d(2)", "pool.with_positions = True")
    assert "self.with_positions = False" in text and "_max_positions" in text


def test_classes_without_instances_are_not_asked_for() -> None:
    loader = "batches = helpers.DataLoader(data, batch_size=2)"
    assert "IterableDataset" not in module(["DataLoader"], loader).replace("dataloader.Iter", "")
    own = "class Stream(helpers.IterableDataset): ..."
    text = module(["DataLoader", "IterableDataset"], loader, own)
    assert "class IterableDataset(Dataset):" in text and "class _Stream" in text


def test_methods_that_nobody_names_go() -> None:
    scaler = "scaler = helpers.GradScaler()"
    assert "def state_dict" not in module(["GradScaler"], scaler)
    assert "def state_dict" in module(["GradScaler"], scaler, "scaler.state_dict()")
    assert "def state_dict" in module(["GradScaler"], scaler, 'getattr(scaler, "state_dict")()')
    assert "def state_dict" in module(["GradScaler"], scaler, "getattr(scaler, name)()")


def test_methods_that_mindspore_calls_stay() -> None:
    text = module(["Sequential"], "class Head(helpers.Sequential): ...")
    assert "def insert_child_to_cell" in text and "def update_parameters_name" in text


def test_methods_of_layers_that_nobody_names_go() -> None:
    net = "net = helpers.DistributedDataParallel(net)"
    text = module(["DistributedDataParallel"], net)
    assert "no_sync" not in text and "synchronises" not in text
    assert "def construct" in text and "def __call__" in text
    for use in ("with net.no_sync(): ...", "net.require_backward_grad_sync = False"):
        text = module(["DistributedDataParallel"], net, use)
        assert "def require_backward_grad_sync(self, flag):" in text and ".due" in text


def test_signatures_stand_on_a_line_of_their_own_where_they_fit() -> None:
    text = module(["DistributedSampler"], "helpers.DistributedSampler(data, rank=1, shuffle=False)")
    assert "def __init__(self, dataset, rank=None, shuffle=True):\n" in text
    given = "num_workers=2, shuffle=True, collate_fn=stack"
    text = module(["DataLoader"], f"helpers.DataLoader(data, 4, {given})")
    lines = text[text.index("class DataLoader") :].split("\n")
    first = lines.index("    def __init__(") + 1
    assert lines[first].startswith("        self, dataset, ") and lines[first + 1] == "    ):"


def test_constants_stand_together() -> None:
    text = module(["state_dict"], "helpers.state_dict(net)")
    tree = ast.parse(text)
    constants = [node for node in tree.body if isinstance(node, ast.Assign)]
    pairs = [(a, b) for a, b in itertools.pairwise(tree.body) if {a, b} <= set(constants)]
    assert pairs and all(b.lineno == (a.end_lineno or 0) + 1 for a, b in pairs)


def test_pieces_ask_what_the_program_uses() -> None:
    step = "step = helpers.value_and_grad(f, None, weights)"
    assert "averaging" not in module(["value_and_grad"], step)
    parallel = "net = helpers.DistributedDataParallel(net)"
    assert "averaging" in module(["value_and_grad", "DistributedDataParallel"], step, parallel)


@pytest.mark.parametrize("given", ["", "None", "*rest"])
def test_all_names_are_there(given: str) -> None:
    """Whatever is left out, what remains names nothing that is missing."""
    names = [name for name in helper_index().definitions if not name.startswith("_")][::25]
    text = module(names, *(f"helpers.{name}({given})" for name in names))
    tree = ast.parse(text)
    bound = set(vars(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.ExceptHandler):
            bound.add(node.name or "")
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert read <= bound, read - bound


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("if a is None:\n    x = 1\nelse:\n    x = 2\nreturn x", "return 1"),
        (
            "if b:\n    return 1\nelif a:\n    return 2\nelse:\n    return 3",
            "if b:\n    return 1\nelse:\n    return 3",
        ),
        ("if b and a:\n    f()\nreturn b", "return b"),
        ("if b() and a:\n    f()\nreturn b", "if b() and None:\n    f()\nreturn b"),
        ("return g(a=a).a", "return g(a=None).a"),
        ("c = len(b)\nd = b()\nreturn a", "d = b()\nreturn None"),
        ("def inner():\n    return 1\nreturn a or b", "return b"),
        ("return isinstance(a, (int, str))", "return False"),
        ("yield from b if a else ()", "yield from ()"),
        ("if a:\n    yield b", "if a:\n    yield b"),
        ("return 0 is False, 1 == True", "return False, True"),
        ("return b is None and not a", "return b is None"),
        ("return b and not a", "return b and True"),
        ("b = g(b) if a else b\nreturn b", "return b"),
    ],
)
def test_folding(body: str, left: str) -> None:
    def function(head: str, text: str) -> str:
        return head + "".join(f"    {line}\n" for line in text.split("\n"))

    source = function("def piece(b, a=None):\n", body)
    head = "def piece(b, a=None):\n" if "if a:\n    yield" in body else "def piece(b):\n"
    done = trimmed(source, Cut({"a": None}), lambda name: None)
    assert ast.unparse(ast.parse(done)) == ast.unparse(ast.parse(function(head, left)))


def test_private_names_of_mindspore_are_listed() -> None:
    """docs/port.md names each that a helper uses: what a new release may break."""
    page = (ROOT / "docs" / "port.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "migrate" / "emit" / "helpers").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        own |= {
            n.attr
            for n in ast.walk(tree)
            if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)
        }
        own |= {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and n.value}
        used = {
            n.attr
            for n in ast.walk(tree)
            if isinstance(n, ast.Attribute) and n.attr.startswith("_") and n.attr[1:2] != "_"
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindspore"):
                hidden = "._" in (node.module or "")
                used |= {alias.name for alias in node.names if alias.name.startswith("_")}
                used |= {"_c_expression"} if hidden else set()
        for name in used - own:
            assert name in page and path.stem in page, f"{path.stem} uses MindSpore's {name}"


STEP = "grad_step = helpers.value_and_grad(forward_step, None, optimizer.parameters)"
ASKED = {  # what a step is asked where the program may have it, and a piece that does so
    "import random\ndef construct(self, x): return x * random.random()": "def changes_by_itself(",
    "from numpy.random import rand\ndef construct(self, x): return rand() * x": "def _uses_source(",
    "batches = iter(loader)": "def changes_by_itself(",
    "setattr(net, name, value)": "def _collect(",
    "layer.register_forward_hook(show)": "def _hooks(",
    "S = [1]\ndef construct(self, x): return x * S[0]\nsetattr(a, b, c)": "def _globals_of(",
}


def test_a_step_asks_what_the_program_may_have() -> None:
    """Decided from all files of a port: those without helpers count, and unknown ones may."""
    plain = IMPORT + STEP
    closed = helper_module(["value_and_grad"], {}, users=[plain, "import net"], modules=["net"])
    for line, piece in ASKED.items():
        text = helper_module(["value_and_grad"], {}, users=[plain, line])
        assert piece in text and piece not in closed, line
    for line in ("import net", "from .net import Net", "import importlib"):
        text = helper_module(["value_and_grad"], {}, users=[plain, line])
        assert all(piece in text for piece in ASKED.values()), line


def test_constants_between_pieces_are_written_into_them() -> None:
    text = module(["max_pool2d"], "helpers.max_pool2d(x, 2)")
    assert "def _pool_sizes(value):" in text and "kernel = _pool_sizes(kernel_size)" in text
    both = module(
        ["max_pool2d", "max_pool1d"], "helpers.max_pool2d(x, 2)", "helpers.max_pool1d(x, 2)"
    )
    assert "def _pool_sizes(value, ndim):" in both and "_pool_sizes(kernel_size, 2)" in both


def test_calls_have_what_functions_take() -> None:
    """Every call between pieces fits the parameters that are left."""
    names = [name for name in helper_index().definitions if not name.startswith("_")][3::15]
    tree = ast.parse(module(names, *(f"helpers.{name}()" for name in names)))
    functions = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        args = functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if args is None or any(isinstance(one, ast.Starred) for one in call.args):
            continue
        if args.vararg is None:
            assert len(call.args) <= len(args.args), ast.unparse(call)
        known = {one.arg for one in (*args.args, *args.kwonlyargs)}
        given = {one.arg for one in call.keywords}
        if args.kwarg is None and None not in given:
            assert given <= known, ast.unparse(call)
            taken = {one.arg for one in args.args[: len(call.args)]}
            needed = {one.arg for one in args.args[: len(args.args) - len(args.defaults)]}
            assert needed <= taken | given, ast.unparse(call)


def test_a_function_calls_itself_without_the_arguments_that_are_gone() -> None:
    text = module(["vector_norm"], "helpers.vector_norm(x)")
    assert "def vector_norm(x, dim=None):" in text
    assert "return vector_norm(wide, axes)" in text


def test_a_class_that_is_only_asked_for_stays() -> None:
    text = module(["get_model_weights"], "helpers.get_model_weights('resnet18')")
    assert "class WeightsEnum" in text


def test_programs_whose_weights_are_all_reached_look_for_none() -> None:
    lines = [
        "step = helpers.value_and_grad(f, None, optimizer.parameters)",
        "optimizer = helpers.SGD(net.trainable_params(), lr=0.1)",
    ]
    names = ["value_and_grad", "SGD"]
    assert "def unreached" in module(names, *lines) and "def apply_to_reached" in module(
        names, *lines
    )
    users = [IMPORT + "\n".join(lines)]
    text = helper_module(names, {}, users=users, modules=["ms_migrate_helpers"], excluded=[MISSING])
    for gone in (
        "unreached",
        "apply_to_reached",
        "has_no_gradient",
        "skips_missing",
        "def __call__",
    ):
        assert gone not in text


def test_loaders_lose_the_order_that_nobody_draws() -> None:
    text = module(["DataLoader"], "helpers.DataLoader(data, batch_size=2, shuffle=False)")
    assert "RandomSampler" not in text and "index_sampler" not in text
    text = module(["DataLoader"], "helpers.DataLoader(data, batch_size=2, shuffle=train)")
    assert "dataloader.RandomSampler(dataset)" in text and "class RandomSampler" not in text


@pytest.mark.parametrize(
    "line",
    [
        "helpers.DataLoader(data, shuffle=True, generator=draws)",
        "helpers.DataLoader(data, shuffle=True)\nhelpers.manual_seed(0)",
        "helpers.DataLoader(data, shuffle=True)\nisinstance(s, helpers.RandomSampler)",
        "helpers.DataLoader(data, **{'shuffle': True, 'generator': draws})",
    ],
)
def test_loaders_draw_from_streams_of_the_program(line: str) -> None:
    names = ["DataLoader", "manual_seed", "RandomSampler"]
    text = module([name for name in names if f"helpers.{name}" in line], line)
    assert "RandomSampler(dataset, generator=generator)" in text.replace(
        "RandomSampler(dataset)", "RandomSampler(dataset, generator=generator)"
    )
    assert "class RandomSampler" in text


def test_loaders_look_for_samplers_that_are_put_in_place() -> None:
    loader = "loader = helpers.DataLoader(data)"
    for line in ("loader.batch_sampler = own", "object.__setattr__(loader, 'sampler', own)"):
        assert "def index_sampler" in module(["DataLoader"], loader, line)


def test_datasets_have_what_is_asked_of_them() -> None:
    own = "class Own(helpers.Dataset): ..."
    whole = module(["Dataset"], own)
    assert "ConcatDataset" in whole and "__class_getitem__" not in whole
    assert "__class_getitem__" in module(["Dataset"], "def f(x: helpers.Dataset[int]): ...")
    text = helper_module(
        ["Dataset"], {}, users=[IMPORT + own], modules=["ms_migrate_helpers"], excluded=[SUMS]
    )
    assert "ConcatDataset" not in text and "class Dataset" in text


def test_names_are_looked_for_where_layers_have_others() -> None:
    text = module(["state_dict"], "helpers.state_dict(net)")
    assert "absent" not in text and "Embedding" not in text and '"is_buffer"' not in text
    assert "Embedding" in module(["state_dict"], "helpers.state_dict(nn.Embedding(3, 4))")
    text = module(["state_dict", "BatchNorm2d"], "helpers.state_dict(helpers.BatchNorm2d(3))")
    assert "_is_absent(value)" in text
    text = module(["parameters"], "helpers.parameters(net)")
    assert "in_torch_order" not in text
    assert "in_torch_order" in module(["parameters"], "helpers.parameters(nn.LSTM(3, 4))")


def test_annotations_hand_nothing_on() -> None:
    scaler = "scaler = helpers.GradScaler(enabled=amp)"
    noted = "def train(scaler: helpers.GradScaler) -> helpers.GradScaler:\n    return scaler"
    assert "growth_interval=2000" not in module(["GradScaler"], scaler, noted)
    assert "growth_interval=2000" in module(["GradScaler"], scaler, "make = helpers.GradScaler")
    asked = "typing.get_type_hints(train)"
    assert "growth_interval=2000" in module(["GradScaler"], scaler, noted, asked)
    assert "growth_interval=2000" in module(["GradScaler"], noted)
