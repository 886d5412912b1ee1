"""Lines that outgrew their width are broken, all others stay as they are."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

from migrate.tidy.long_lines import break_long_lines


def broken(code: str, source: str = "") -> str:
    return break_long_lines(code, source)


def test_a_line_of_the_source_stays_however_long() -> None:
    line = f"x = function({', '.join(['argument'] * 20)})\n"
    assert broken(line, line) == line
    assert broken(line, "") != line


def test_the_file_s_own_width_counts() -> None:
    line = f"x = function({', '.join(['argument'] * 10)})"  # 111 characters
    assert broken(line, "#" * 115) == line
    assert broken(line, "#" * 105) != line


def test_arguments_go_on_one_line_or_one_a_line_each() -> None:
    arguments = "3, channels, kernel_size=7, stride=2, pad_mode='pad', padding=3, has_bias=False"
    assert broken(f"layer({arguments})") == f"layer({arguments})"
    lines = broken(f"the_first_layer = layer({arguments})").split("\n")
    assert lines == ["the_first_layer = layer(", f"    {arguments}", ")"]
    longer = f"{arguments}, dilation=1, group=4, input=64"
    assert broken(f"layer({longer})").split("\n") == [
        "layer(",
        *(f"    {argument}," for argument in longer.split(", ")),
        ")",
    ]


def test_a_comprehension_is_broken_before_its_loops() -> None:
    words = " + ".join(["word"] * 12)
    assert broken(f"return [{words} for word in first for _ in second]").split("\n") == [
        "return [",
        f"    {words}",
        "    for word in first",
        "    for _ in second",
        "]",
    ]


def test_the_longest_brackets_are_opened_and_what_follows_stays_behind_them() -> None:
    code = f"y = first(1).second({', '.join(['word'] * 16)}).third(2)"
    assert broken(code).split("\n") == [
        "y = first(1).second(",
        f"    {', '.join(['word'] * 16)}",
        ").third(2)",
    ]


@pytest.mark.parametrize(
    "code",
    [
        # No bracket, one of several values, a comment, a string over several lines, a bracket that
        # another line closes.
        f"x = {' + '.join(['word'] * 30)}\n",
        f"return call(1), {' + '.join(['word'] * 20)}\n",
        f"x = call({', '.join(['word'] * 20)})  # why\n",
        f'x = call({", ".join(["word"] * 20)}, """a\nb""")\n',
        f"x = [call({', '.join(['word'] * 20)}), (\n    1,\n)]\n",
    ],
)
def test_what_cannot_be_broken_alone_stays(code: str) -> None:
    assert broken(code) == code


def test_no_comma_is_added_where_it_would_mean_something() -> None:
    names = "_".join(["long"] * 10)
    for code in (
        f"x = total(weight for name, weight in {names}.items() for weight in {names}.values())",
        f"x = table[{names} + {names} + {names}]",
        f"x = ({names} + {names} + {names})",
        f"x = call(lambda a, b: {names} + {names} + {names})",
    ):
        assert len(broken(code).split("\n")) >= 3
        assert ast.dump(ast.parse(broken(code))) == ast.dump(ast.parse(code))


def test_tabs_stay_tabs() -> None:
    code = f"if x:\n\ty = call({', '.join(['word'] * 20)})\n"
    assert broken(code).split("\n")[1:3] == ["\ty = call(", "\t\tword,"]


def test_real_files_keep_their_meaning() -> None:
    """Every line of torchvision's models taken for a new one, at the narrowest width."""
    spec = importlib.util.find_spec("torchvision")
    assert spec is not None and spec.origin is not None
    changed = 0
    for path in sorted((Path(spec.origin).parent / "models").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        new = broken(code)
        assert ast.dump(ast.parse(new)) == ast.dump(ast.parse(code))
        changed += new != code
    assert changed > 5
