"""What helper pieces ask of a whole program, and the spellings that must not be missed."""

from __future__ import annotations

import pytest

from migrate.emit.lean.callers import in_ported
from migrate.emit.lean.facts import facts

IMPORT = "import ms_migrate_helpers as helpers\nimport numpy as np\nimport mindspore\n"
DRAWN = "values that change by themselves"
GLOBALS = "variables of modules that change"
STEP = "grad_step = helpers.value_and_grad(forward_step, None, optimizer.parameters)\n"


def holds(fact: str, text: str, *, imports: str = "", wanted: tuple[str, ...] = ()) -> bool:
    said = in_ported([imports + IMPORT + text])
    assert said is not None
    named = {*wanted, *said.calls, *said.values}
    return fact in facts(said, named, {"ms_migrate_helpers", "own"})


@pytest.mark.parametrize(
    "text",
    [
        "class Net(nn.Cell):\n    def construct(self, x):\n        return x * np.random.rand()",
        # through a function, a method, an object, a variable that holds a function
        "def noise():\n    return np.random.rand()\nclass N:\n    def construct(self, x):\n"
        "        return x + noise()",
        "class N:\n    def draw(self):\n        return np.random.rand()\n"
        "    def construct(self, x):\n        return x + self.draw()",
        "class Mix:\n    def __call__(self, x):\n        return x * np.random.rand()\nmix = Mix()",
        "def noise():\n    return np.random.rand()\ndraw = noise\n" + STEP,
        "class Ops:\n    def noise(self):\n        return np.random.rand()\n    def a(self):\n"
        "        pass\nclass N:\n    def construct(self, x):\n"
        "        return getattr(ops, self.name)(x)",
        # a generator or an iterator that outlives the function which makes it
        "class N:\n    def __init__(self):\n        self.source = np.random.default_rng(0)",
        "batches = iter(loader)",
        "def f():\n    rng = np.random.RandomState(0)\n    def forward_step(x):\n"
        "        return rng.rand() * x\n    return forward_step",
        "def f():\n    rng = np.random.default_rng(0)\n    return rng",
        "def forward_step(x):\n    return x * np.random.rand()\n" + STEP,
    ],
)
def test_random_numbers_that_a_graph_would_draw_once(text: str) -> None:
    assert holds(DRAWN, text)


@pytest.mark.parametrize(
    "text",
    [
        "class Data(helpers.Dataset):\n    def __getitem__(self, i):\n"
        "        return np.random.rand(3)",
        "def batch():\n    return np.random.default_rng(0).normal(size=3)\nbatch()",
        "def order(n):\n    rng = np.random.default_rng(0)\n    a = rng.permutation(n)\n"
        "    return a",
        "images, _ = next(iter(loader))",
        "class Cutout:\n    def __call__(self, x):\n        return x * np.random.rand()\n"
        "chain = helpers.Compose([Cutout()])",
        "class S(helpers.Sampler):\n    def __iter__(self):\n        return iter(self.order)",
    ],
)
def test_random_numbers_that_no_graph_draws(text: str) -> None:
    assert not holds(DRAWN, text)
    assert holds(DRAWN, text, imports="import elsewhere\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SCALE = 2.0\ndef construct(self, x):\n    return x * SCALE", False),
        ("SCALE = (1, -2)\ndef construct(self, x):\n    return x * SCALE[0]", False),
        ("SCALE = [1]\ndef construct(self, x):\n    return x * SCALE[0]", True),
        ("SCALE = 1\nSCALE = 2\ndef construct(self, x):\n    return x * SCALE", True),
        (
            "SCALE = 1\ndef f():\n    global SCALE\ndef construct(self, x):\n    return x * SCALE",
            True,
        ),
        ("import own\nown.scale = 2\ndef construct(self, x):\n    return x * own.scale", True),
        (
            "SCALE = [1]\ndef helper(x):\n    return x * SCALE[0]\n"
            "def construct(self, x):\n    return helper(x)",
            True,
        ),
        ("if big:\n    SCALE = [1]\ndef construct(self, x):\n    return x * SCALE[0]", True),
        (
            "NORMS = [1]\ndef f(x: NORMS) -> NORMS:\n    return x\n"
            "def construct(self, x):\n    return f(x)",
            False,
        ),
        ("def forward_step(x):\n    return net(x)\nnet = Net()\n" + STEP, False),
    ],
)
def test_variables_of_modules_that_layers_read(text: str, expected: bool) -> None:
    assert holds(GLOBALS, text) is expected


@pytest.mark.parametrize(
    ("fact", "text", "expected"),
    [
        ("binary files", 'helpers.save(a, "x.pt")', False),
        ("binary files", 'with open(path, "a") as f:\n    f.write("x")', False),
        ("binary files", 'with open(path, "rb") as f:\n    data = f.read()', False),
        (
            "binary files",
            'import pickle\nwith open(path, "rb") as f:\n    d = pickle.load(f)',
            False,
        ),
        ("binary files", "with Image.open(path) as f:\n    use(f)", False),
        ("binary files", 'with open(path, "rb") as f:\n    d = helpers.load(f)', True),
        ("binary files", 'with open(path, "rb") as f:\n    d = read(f)', True),
        ("binary files", 'd = helpers.load(open(path, "rb"))', True),
        ("binary files", "d = helpers.load(open(path, mode))", True),
        ("binary files", 'd = helpers.load(path.open("rb"))', True),
        ("binary files", "helpers.save(a, io.BytesIO())", True),
        ("double precision", "x = ops.zeros(3, dtype=mindspore.float64)", False),
        ("double precision", "x = y.astype(np.float64)", False),
        ("double precision", "net = nn.Dense(2, 2, dtype=mindspore.float64)", True),
        ("double precision", "kind = mindspore.float64", True),
        ("double precision", "kind = getattr(mindspore, name)", True),
        ("double precision", "net.double()", True),
        ("double precision", "w = Parameter(Tensor(values))", True),
        ("double precision", "w = [p for p in q if isinstance(p, Parameter)]", False),
        ("keys that load_state_dict returns", "helpers.load_state_dict(net, state)", False),
        ("keys that load_state_dict returns", "k = helpers.load_state_dict(net, state)", True),
        ("keys that load_state_dict returns", "print(helpers.load_state_dict(net, s))", True),
        ("state_dict methods", "class N:\n    def state_dict(self): ...", True),
        ("state_dict methods", "net.load_state_dict = f", True),
        ("state_dict methods", "s = helpers.state_dict(net)", False),
        ("parts with other names", "n = nn.BatchNorm3d(2)", True),
        ("parts with other names", "n = getattr(nn, kind)(2)", True),
        ("parts with other names", "n = nn.BatchNorm2d(2)", False),
        ("largest moments", "o = helpers.Adam(p, lr=0.1)", False),
        ("largest moments", "o = helpers.Adam(p, amsgrad=flag)", True),
        ("largest moments", "o = helpers.Adam(p, **settings)", True),
        ("largest moments", 'o = helpers.Adam([{"params": p, **settings}])', True),
        ("largest moments", 'o = helpers.Adam([{"params": p, "amsgrad": True}])', True),
        ("weights that are listed late", STEP, False),
        (
            "weights that are listed late",
            "s = helpers.value_and_grad(f, None, lambda: optimizer.parameters)",
            True,
        ),
        ("classes of tuples", "class Pair(tuple): ...", True),
        ("classes of tuples", "x = helpers.pack_padded_sequence(a, b)", True),
        ("hooks of layers", "net.register_forward_hook(f)", True),
        ("hooks of layers", "net(x)", False),
        ("optimizers of the program's own", "class Own(helpers.Optimizer): ...", True),
        ("optimizers of MindSpore's", "o = optim.SGD(p, lr=0.1)", True),
        ("optimizers of MindSpore's", "o = helpers.SGD(p, lr=0.1)", False),
    ],
)
def test_facts(fact: str, text: str, expected: bool) -> None:
    assert holds(fact, text) is expected
    assert holds(fact, text, imports="import elsewhere\n"), "an unknown module may have it"
