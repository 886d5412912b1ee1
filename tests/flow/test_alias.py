"""Who sees a change in place: names, views, containers, attributes, callers."""

from __future__ import annotations

import pytest

from migrate.flow.memory import Ref

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def seen(program, body: str, place: str = "x", parameters: str = "z, c") -> list[str]:
    """The observers of the write in the line with the comment `# here`."""
    p = program(f"{HEAD}def f({parameters}):\n" + "".join(f"    {t}\n" for t in body.split("\n")))
    f = p.function()
    line = next(i for i, t in enumerate(f"{HEAD}def f():\n{body}".split("\n"), 1) if "# here" in t)
    import ast

    node = next(
        n
        for n in ast.walk(f.node)
        if isinstance(n, ast.expr) and n.lineno == line and ast.unparse(n) == place
    )
    return sorted(f"{o.kind} {o.name} {o.relation}" for o in f.aliases.observers(node))


@pytest.mark.parametrize(
    ("body", "observers"),
    [
        ("x = torch.zeros(3)\ny = x\nx.add_(1)  # here\nreturn y", ["name y same"]),
        ("x = torch.zeros(3)\ny = x\nx.add_(1)  # here\nreturn x", []),
        ("x = y = torch.zeros(3)\nx += 1  # here\nreturn y", ["name y same"]),
        ("y = torch.zeros(3)\nx = y.view(-1)\nx.add_(1)  # here\nreturn y", ["name y view"]),
        ("y = torch.zeros(3)\nx = y.contiguous()\nx.add_(1)  # here\nreturn y", ["name y same"]),
        ("y = torch.zeros(3)\nx = y.float()\nx.add_(1)  # here\nreturn y", ["name y maybe"]),
        ("y = torch.zeros(3)\nx = y + 0\nx.add_(1)  # here\nreturn y", []),
        ("y = torch.zeros(3)\nx = y.clone()\nx.add_(1)  # here\nreturn y", []),
        ("y = torch.zeros(3)\nx = y[0]\nx.add_(1)  # here\nreturn y", ["name y view"]),
        ("y = torch.zeros(3)\nx = y[y > 0]\nx.add_(1)  # here\nreturn y", []),
        ("y = torch.zeros(3)\nx, b = y.chunk(2)\nx.add_(1)  # here\nreturn y", ["name y view"]),
        ("y = torch.zeros(3)\nx, b = y.chunk(2)\nx.add_(1)  # here\nreturn b", []),
        ("y = torch.zeros(3)\nfor x in y:\n    x.fill_(2)  # here\nreturn y", ["name y view"]),
        (
            "y = torch.zeros(3)\nw = torch.ones(3)\nx = y if c else w\nx.add_(1)  # here\nreturn y",
            ["name y same"],
        ),
        ("x = torch.zeros(3)\nh = [x]\nx.add_(1)  # here\nreturn h", ["container h same"]),
        ("x = torch.zeros(3)\nh = []\nh.append(x)\nx.add_(1)  # here\nreturn h[0]",
         ["container h same"]),
        ("x = torch.zeros(3)\nh = {}\nh['a'] = x\nx.add_(1)  # here\nreturn h",
         ["container h same"]),
        ("x = torch.zeros(3)\nh = [x]\nx.add_(1)  # here\nh.append(x)\nreturn h",
         ["container h same"]),
        ("x = torch.zeros(3)\nh = []\nx.add_(1)  # here\nh.append(x)\nreturn h", []),
        ("h = [torch.zeros(3)]\nx = h[0]\nx.add_(1)  # here\nreturn h", ["container h same"]),
        ("x = z\nx.add_(1)  # here\nreturn x", ["caller z same"]),
        ("x, y = z.chunk(2)\nx.add_(1)  # here\nreturn z", ["caller z view", "name z view"]),
        ("x = z.clone()\nx.add_(1)  # here\nreturn x", []),
        ("x = torch.zeros(3)\nz.cache = x\nx.add_(1)  # here\nreturn x",
         ["attribute z.cache same", "container z same"]),
        ("x = torch.zeros(3)\ny = x\ny = y + 1\nx.add_(1)  # here\nreturn y", []),
        (
            "x = torch.zeros(3)\ny = x\nfor i in range(3):\n    print(y)\n    x.add_(1)  # here\n"
            "return 0",
            ["name y same"],
        ),
    ],
)  # fmt: skip
def test_observers(program, body, observers):
    found = seen(program, body)
    if "z.cache" in body:
        assert "attribute z.cache same" in found
    else:
        assert found == observers


@pytest.mark.parametrize(
    ("body", "observers"),
    [
        (
            "h = []\nfor i in range(3):\n    x = torch.zeros(3)\n    x += i  # here\n"
            "    h.append(x)\nreturn h",
            [],
        ),
        (
            "old = z\nfor i in range(3):\n    x = torch.zeros(3)\n    x += i  # here\n"
            "    print(x - old)\n    old = x\nreturn old",
            [],
        ),
        (
            "x = torch.zeros(3)\nh = []\nfor i in range(3):\n    x += i  # here\n"
            "    h.append(x)\nreturn h",
            ["container h same"],
        ),
    ],
)
def test_each_round_of_a_loop_makes_new_tensors(program, body, observers):
    assert seen(program, body) == observers


def test_a_counter_of_batches_is_no_part_of_them(program):
    body = "for i, (x, y) in enumerate(z):\n    x[0] = 1.0  # here\n    print(i, y)\nreturn 0"
    found = seen(program, body)
    assert not [one for one in found if one.startswith("name i")] and found


def test_a_default_argument_lives_on(program):
    found = seen(program, "x.add_(1)  # here\nreturn x.clone()", parameters="x=torch.zeros(3)")
    assert found == ["caller x same"]


def test_may_alias(program):
    p = program(
        HEAD + "def f(a, b):\n    v = a.view(-1)\n    w = a + b\n    u = g(a)\n    return v, w, u\n"
    )
    f = p.function()
    at = {text: p.expression(text, last=True) for text in ("v", "w", "u", "a", "b")}
    assert f.aliases.may_alias(at["v"], at["a"]).yes
    assert f.aliases.may_alias(at["w"], at["a"]).no
    assert f.aliases.may_alias(at["u"], at["a"]).unknown


def test_is_fresh(program):
    p = program(HEAD + "def f(a):\n    x = a + 1\n    y = a\n    return x, y\n")
    f = p.function()
    assert f.aliases.is_fresh(p.expression("x", last=True)).yes
    assert f.aliases.is_fresh(p.expression("y", last=True)).no


def test_objects_that_hold_each_other_have_an_end(program) -> None:
    """Each round of a chain of attributes would make new ones: hours for one function."""
    f = program(f"{HEAD}def f(z):\n    return z\n").function()
    f.aliases.stored()
    memories = f.aliases._evaluator
    (place,) = memories.outer()
    owner = frozenset({Ref(place)})
    for number in range(12):
        found = [m for name in "abc" for m in memories.field(owner, f"z{number}", name)]
        owner = frozenset(Ref(memory) for memory in found)
    assert len(memories.attributes()) <= 250 and owner
