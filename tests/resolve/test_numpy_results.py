"""Numbers that come out of numpy's arrays."""

from __future__ import annotations

import textwrap

import pytest

from migrate.port.file import port_file
from migrate.project import discover
from migrate.resolve import Resolver
from migrate.table import Table


def ported_file(tmp_path, source: str):
    path = tmp_path / "example.py"
    path.write_text(source)
    project = discover([path])
    return port_file(Resolver(project, Table()), project.files[0], helper_import="import helpers")


def ported(tmp_path, body: str):
    head = "import numpy as np\nimport torch\n\n\ndef f(a: np.ndarray, given):\n"
    return ported_file(tmp_path, head + textwrap.indent(body, "    "))


@pytest.mark.parametrize(
    "body",
    [
        "longest = a.max() + 2\nreturn torch.randn(3, 4, longest)\n",
        "return torch.zeros(np.max(a), 4)\n",
        "return [torch.ones(n, 4) for n in a]\n",
        "return torch.zeros(np.random.randint(1, 5), 2)\n",
        "return torch.zeros(a.ndim, a.size)\n",
    ],
)
def test_they_are_sizes(tmp_path, body: str) -> None:
    result = ported(tmp_path, body)
    assert not result.findings and "torch" not in result.text


def test_a_call_that_torchs_method_does_not_take_is_none_of_it(tmp_path) -> None:
    result = ported(tmp_path, "data = given.read()\nreturn data.transpose()\n")
    assert not result.findings


def test_with_its_arguments_it_may_be_torchs(tmp_path) -> None:
    result = ported(tmp_path, "data = given.read()\nreturn data.transpose(0, 1)\n")
    assert [finding.code for finding in result.findings] == ["MS307"]


def test_the_shape_of_an_array_is_a_plain_tuple(tmp_path) -> None:
    body = (
        "b = np.asarray(given)\n"
        "print(a.shape, f'{b.shape} {b.shape[1:]!r}', str(b.T.shape))\n"
        "return torch.relu(torch.zeros(b.shape))\n"
    )
    text = ported(tmp_path, body).text
    assert "Size" not in text and "shown_size" not in text
    assert "print(a.shape, f'{b.shape} {b.shape[1:]!r}', str(b.T.shape))" in text
