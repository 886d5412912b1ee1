"""Programs composed at random from fragments, so that idioms meet each other.

A program is a chain of fragments on one tensor `x` of shape (4, 6) and its relatives: each fragment
is a statement or two that keep the shape. Hypothesis draws and shrinks the chain.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.hunt.idioms import Program, with_header

FRAGMENTS = {
    "scale": "x = x * 2",
    "augment": "x += 1",
    "in place": "x.mul_(0.5)",
    "row": "x[0] = 1.0",
    "part": "x[:, 1:3] += 0.5",
    "mask": "x[x > 1] = 0.25",
    "view": "v = x.view(-1)\n    v[0] = 3.0",
    "alias": "y = x\n    y += 1",
    "clone": "y = x.clone()\n    y[1] = 0.0",
    "chunk": "a, b = x.chunk(2, 1)\n    x = torch.cat([b, a], 1)",
    "loop": "for i in range(2):\n        x = x + i",
    "list": "kept = [x]\n    x = x - 1\n    x = x + kept[0]",
    "branch": "if x.sum() > 0:\n        x = x - 0.5\n    else:\n        x = x + 0.5",
    "softmax": "x = F.softmax(x, dim=1) + x",
    "norm": "x = F.layer_norm(x, (6,))",
    "gather": "x = x.gather(1, torch.tensor([[0, 1, 2, 3, 4, 5]] * 4))",
    "transpose": "x = x.t().contiguous().t()",
    "index": "x = x[torch.tensor([3, 2, 1, 0])]",
    "detach": "x = x + x.detach()",
    "where": "x = torch.where(x > 0, x, x * 0.1)",
    "cumsum": "x = x.cumsum(1) / 6",
    "closure": "scale = lambda t, k=2: t * k\n    x = scale(x)",
    "dict": 'd = {"x": x}\n    d["x"] = d["x"] + 1\n    x = d["x"]',
    "unpack": "first, *rest = x.unbind(0)\n    x = torch.stack([first, *rest])",
}

chains = st.lists(st.sampled_from(sorted(FRAGMENTS)), min_size=2, max_size=5)


def composed(chain: list[str], network: bool, number: int) -> Program:
    """The chain as a function, or as the forward of a network that Graph mode compiles."""
    body = "\n    ".join(FRAGMENTS[name] for name in chain)
    start = "def f(x):\n    x = x * 1.0\n    " + body + "\n    return x\n\n\n"
    if network:
        start += "class Net(nn.Module):\n    def forward(self, x):\n        return f(x)\n\n\n"
    call = "Net()(data(4, 6))" if network else "f(data(4, 6))"
    source = f"{start}def run():\n    return {call}\n"
    title = f"{number}: {', '.join(chain)}"
    form = "network" if network else "function"
    return Program(title, "composed", (0,), form, {"main.py": with_header(source)})
