"""Arguments that are only known at run time: the form with torch's signature sorts them out."""

from __future__ import annotations

HEAD = "import torch\nfrom torch import nn\n\n\n"


def lines(port, source: str) -> list[str]:
    ported = port(HEAD + source)
    assert not ported.findings, ported.findings
    return [line.strip() for line in ported.text.splitlines()]


def test_sizes_by_number_or_at_once(port) -> None:
    ported = port(
        f"{HEAD}def make(n, **kw):\n"
        "    return torch.empty(n, 2, **kw), torch.zeros((n, 2), **kw), torch.ones([], **kw)\n"
    )
    assert not ported.findings
    assert "helpers.empty(n, 2, **kw), helpers.zeros((n, 2), **kw), helpers.ones([], **kw)" in (
        ported.text
    )
    made = ported.generated["zeros"]
    assert "def zeros(*sizes, size=None, " in made
    assert "return zeros((1,), dtype=dtype).reshape(())" in made


def test_a_creator_that_is_passed_on(port) -> None:
    text = lines(port, "def make(shape, fill=torch.zeros):\n    return fill(*shape)\n")
    assert "def make(shape, fill=helpers.zeros):" in text


def test_methods_whose_name_alone_changes(port) -> None:
    text = lines(
        port,
        "class Net(nn.Module):\n    def load_state_dict(self, state, **kwargs):\n"
        "        super().load_state_dict(state, **kwargs)\n",
    )
    assert "helpers.load_state_dict(super(), state, **kwargs)" in text


def test_stars_fill_the_arguments_that_torch_takes_any_number_of(port) -> None:
    text = lines(port, "def grid(*axes):\n    return torch.meshgrid(*axes)\n")
    assert "return ops.meshgrid(*axes, indexing='ij')" in text
