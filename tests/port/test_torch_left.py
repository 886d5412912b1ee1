"""What is left of torch is imported by the function that uses it; guards of imports stay guards."""

from __future__ import annotations

import pytest

LEFT = "torch.backends.nosuch.call"  # not in the table


def test_a_function_imports_what_it_has_left(port) -> None:
    ported = port(
        f"""\
        import torch


        def used(x: torch.Tensor):
            return torch.relu(x)


        def unported(x):
            \"\"\"Nobody calls it.\"\"\"
            return {LEFT}(x)
        """
    )
    head, _, function = ported.text.partition("def unported(x):\n")
    assert "import torch" not in head
    assert function.startswith('    """Nobody calls it."""\n    import torch\n')
    assert f"return {LEFT}(x)" in function


@pytest.mark.parametrize(
    "line",
    [
        f"X = {LEFT}()",
        f"def f(x={LEFT}()):\n    return x",
        f"@{LEFT}\ndef f(x):\n    return x",
        f"class A({LEFT}):\n    pass",
        f"class A:\n    x = {LEFT}()",
        f"g = lambda: {LEFT}()",
    ],
)
def test_what_the_import_itself_needs_stays_at_the_top(port, line: str) -> None:
    ported = port(f"import torch\n\n\ndef h():\n    return {LEFT}(1)\n\n\n{line}\n")
    assert "\nimport torch\n" in f"\n{ported.text}"
    assert ported.text.count("import torch\n") == 1


def test_one_import_for_the_functions_inside(port) -> None:
    ported = port(
        f"import torch\n\nx = torch.ones(2)\n\n\ndef outer():\n    def inner(x):\n"
        f"        return {LEFT}(x)\n    return inner, {LEFT}(2)\n"
    )
    assert ported.text.count("import torch\n") == 1
    assert "def outer():\n    import torch\n" in ported.text


GUARDED = """\
try:
    from torchvision.transforms import ElasticTransform{alias}
    HAS = True
except ImportError:
    {name} = None
    HAS = False


def build():
    return {name}() if HAS and {name} is not None else None
"""


@pytest.mark.parametrize("alias", ["", " as Mixed"])
def test_a_guarded_import_that_has_no_counterpart_stays(port, alias: str) -> None:
    source = GUARDED.format(alias=alias, name="Mixed" if alias else "ElasticTransform")
    ported = port(source)
    kept = [line for line in ported.text.splitlines() if "# ms-migrate" not in line]
    assert kept == source.splitlines()
    assert ported.findings


def test_a_guarded_import_that_is_carried_over_counts_as_there(port) -> None:
    ported = port(
        """\
        try:
            from torch.cuda.amp import autocast, nosuch
            HAS = True
        except ImportError:
            HAS = False


        def run(model, x):
            with autocast():
                return model(x)
        """
    )
    assert "    from torch.cuda.amp import nosuch\n" in ported.text
    assert "helpers.autocast" in ported.text
