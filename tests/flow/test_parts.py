"""Parts of one memory that share no element: a change of one is not seen through the other."""

from __future__ import annotations

import pytest

from tests.flow.test_alias import seen


@pytest.mark.parametrize(
    "body",
    [
        "x, b, d = torch.zeros(3, 4).chunk(3)\nx *= 2  # here\nreturn b + d",
        "x, b = torch.zeros(3, 4).split([1, 2])\nx.mul_(2)  # here\nreturn b",
        "x, b = torch.zeros(2, 4).unbind()\nx += 1  # here\nreturn b",
        "y = torch.zeros(3, 4).permute(1, 0)\nx, b = y\nx += 1  # here\nreturn b",
        "y = torch.zeros(3, 4)\nx, b = y[0], y[1]\nx += 1  # here\nreturn b",
        "y = torch.zeros(4, 4)\nx, b = y[:, :2], y[:, 2:]\nx += 1  # here\nreturn b",
        "y = torch.zeros(4, 4)\nx = y[..., :c]\nb = y[..., c:]\nx += 1  # here\nreturn b",
        "y = torch.zeros(4, 4)\nx = y[:-1]\nb = y[-1]\nx += 1  # here\nreturn b",
        "y = torch.zeros(4, 4)\nx = y[:, 0, None]\nb = y[:, 1]\nx += 1  # here\nreturn b",
        "p = torch.zeros(4, 4).chunk(2)\nx, b = p[0], p[1]\nx += 1  # here\nreturn b",
        "x, i = torch.zeros(4, 4).max(0)\nx += 1  # here\nreturn i",
        "x, i = torch.sort(z)\nx[i > 1] = 0  # here\nreturn i",
        "m = nn.LSTM(4, 4)\nx, (h, k) = m(z)\nx *= 2  # here\nreturn h, k",
        "m = nn.LSTM(4, 4)\no, (x, k) = m(z)\nx *= 2  # here\nreturn o, k",
        "def two(a):\n    return a + 1, a * 2\nx, b = two(z)\nx *= 2  # here\nreturn b",
        "u, w = z + 1, z * 2\nx, b = map(lambda t: t.view(-1), (u, w))\nx *= 2  # here\nreturn b",
        "x, b = map(lambda t: t.view(-1), z.clone().chunk(2))\nx *= 2  # here\nreturn b",
        "x, b = (t.clone() for t in (z, z))\nx *= 2  # here\nreturn b",
        "x, b = [t.t() for t in (z + 1).chunk(2)]\nx *= 2  # here\nreturn b",
        "x, b = torch.zeros(4, 4).chunk(2)\nx = x.t()\nx *= 2  # here\nreturn b.t()",
    ],
)
def test_nobody_sees_a_change_of_another_part(program, body):
    assert seen(program, body) == []


@pytest.mark.parametrize(
    ("body", "observers"),
    [
        ("y = torch.zeros(3, 4)\nx, b = y.chunk(2)\nx *= 2  # here\nreturn y, b", ["name y view"]),
        ("x, b = z.expand(2, 3)\nx = x[0]\nx += 1  # here\nreturn b", ["name b view"]),
        ("y = torch.zeros(4)\nx, b = y[:3], y[2:]\nx += 1  # here\nreturn b", ["name b view"]),
        ("y = torch.zeros(4)\nx, b = y[0], y[-1]\nx += 1  # here\nreturn b", ["name b view"]),
        ("y = torch.zeros(4)\nx, b = y[:c], y[z:]\nx += 1  # here\nreturn b", ["name b view"]),
        (
            "y = torch.zeros(4, 4)\nx = y[0]\ny2 = y.t()\nb = y2[1]\nx += 1  # here\nreturn b",
            ["name b view"],
        ),
        (
            "y = torch.zeros(4)\nx = y[:c]\nc = c - 1\nb = y[c:]\nx += 1  # here\nreturn b",
            ["name b view"],
        ),
        (
            "p = torch.zeros(4, 4).chunk(2)\nx, a = p\na, b = p[::-1]\nx += 1  # here\nreturn b",
            ["name b view"],
        ),
        ("u = z + 1\nx, b = map(lambda t: t.view(-1), (u, u))\nx *= 2  # here\nreturn b",
         ["name b view"]),
        ("u = z + 1\nx, b = (u.t() for t in (z, z))\nx *= 2  # here\nreturn b",
         ["name b view"]),
        ("def two(a):\n    return a, a\nx, b = two(z + 1)\nx *= 2  # here\nreturn b",
         ["name b view"]),
        (
            "def two(a):\n    b = a + 1\n    return b, b.t()\nx, b = two(z)\nx *= 2  # here\n"
            "return b",
            ["name b view"],
        ),
        (
            "y = torch.zeros(4, 4)\nb = y[0]\nfor i in range(3):\n    b = b + b\n"
            "    x = y[i]\n    x += 1  # here\n    b = y[0]\nreturn b",
            ["name y view"],
        ),
        (
            "y = torch.zeros(9)\nb = y[:0]\nfor i in range(3):\n    x = y[i:]\n"
            "    print(b)\n    x += 1  # here\n    print(b)\n    b = y[:i]\nreturn b",
            ["name b view", "name y view"],
        ),
    ],
)  # fmt: skip
def test_parts_that_may_overlap(program, body, observers):
    found = seen(program, body)
    assert set(observers) <= set(found)


@pytest.mark.parametrize(
    ("body", "observers"),
    [
        ("x = z.data.float()\nx.add_(1)  # here\nz.data.copy_(x)", []),
        ("x = z.data.float()\nx.add_(1)  # here\nz.copy_(x)", []),
        ("x = z.data.float()\nx.add_(1)  # here\nz.data.copy_(x + z)", ["name z maybe"]),
        ("x = z.data.float()\nx.add_(1)  # here\nif c:\n    z.data.copy_(x)\nprint(z)",
         ["name z maybe"]),
        ("x = z.data.float()\nx.add_(1)  # here\nprint(z)\nz.data.copy_(x)", ["name z maybe"]),
        ("x = z.data.float()\nx.add_(1)  # here\nz[0].copy_(x)", ["name z maybe"]),
    ],
)  # fmt: skip
def test_what_is_overwritten_before_it_is_read_is_not_seen(program, body, observers):
    found = [o for o in seen(program, body) if o.startswith("name")]
    assert found == observers


def test_an_item_is_written_to_its_part_alone(program):
    body = "y = torch.zeros(4, 4)\nb = y[1]\ny[0] = z  # here\nreturn b"
    assert seen(program, body, "y[0]") == []
    assert seen(program, body.replace("y[0]", "y[c]"), "y[c]") == ["name b view"]
