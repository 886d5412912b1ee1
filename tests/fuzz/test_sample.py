"""A sample of `make fuzz`: a few real files, and generated programs, through all the checks."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from migrate.analyze.collect import Analyser
from migrate.analyze.model import Options as AnalyzeOptions
from migrate.cli import main
from migrate.port.porter import Options, Porter
from migrate.project import discover
from migrate.table import Table
from tests.fuzz.check_file import Checked, check_file
from tests.port import grammar

HELPERS = "import ms_migrate_helpers as helpers"
STDLIB = (
    "ast.py",
    "dataclasses.py",
    "typing.py",
    "turtle.py",
    "email/parser.py",
    "json/decoder.py",
)
TORCH = (
    "torchvision/ops/boxes.py",
    "torchvision/models/densenet.py",
)


@pytest.fixture(scope="module")
def table() -> Table:
    return Table()


def checked(path: Path, table: Table, *, everything: bool = False) -> Checked:
    project = discover([path])
    analyser = Analyser(project, table, AnalyzeOptions("", "both", "supported", ""))
    porter = Porter(project, table, Options(jobs=1), everything=everything)

    def port(source):
        return porter.port(source, HELPERS)

    return check_file(project.files[0], analyser, port, 60.0, interpreted=everything)[0]


@pytest.mark.parametrize("name", STDLIB)
def test_files_without_torch_are_not_changed(name: str, table: Table) -> None:
    found = checked(Path(sysconfig.get_paths()["stdlib"], name), table)
    assert found.problems == [] and not found.changed


@pytest.mark.parametrize("name", TORCH)
def test_files_with_torch(name: str, table: Table) -> None:
    found = checked(Path(sysconfig.get_paths()["purelib"], name), table)
    assert found.problems == [] and found.changed


RELAXED = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@RELAXED
@given(grammar.programs(torch=True))
def test_generated_programs(tmp_path: Path, table: Table, text: str) -> None:
    path = tmp_path / "drawn.py"
    path.write_text(text, encoding="utf-8")
    assert checked(path, table).problems == []


def odd_programs() -> Iterator[tuple[str, str]]:
    """Small programs of the kinds that break tools, each with torch in it."""
    head, tail = "import torch\n", "\nx = torch.relu(torch.ones(2))\n"
    yield "empty lines and form feeds", f"{head}\f\n\n\f{tail}"
    yield "no newline at the end", f"{head}x = torch.ones(1)"
    yield "semicolons", f"{head}a = 1; x = torch.ones(a);{tail}"
    yield "backslashes", f"{head}x = torch.ones(1) \\\n    + \\\n    torch.ones(1)\n"
    yield "tabs", f"{head}if 1:\n\tx = torch.ones(1)\n\tif 2:\n\t\ty = torch.relu(x)\n"
    yield "nested strings", f"{head}s = f'{{torch.ones(1)!r:>{{10}}}} {{{{}}}}'{tail}"
    yield "long sum", f"{head}x = torch.ones(1)\ny = {' + '.join(['x'] * 20_000)}\n"
    yield "long attribute chain", f"{head}x = torch{'.a' * 4_000}\n"
    yield "long call chain", f"{head}x = torch.ones{'()' * 4_000}\n"
    yield "long chain of signs", f"{head}x = {'-' * 4_000}torch.ones(1)\n"
    yield "long chain of lambdas", f"{head}x = {'lambda: ' * 2_000}torch.ones(1)\n"
    yield "lambdas in defaults", f"{head}x = {'lambda a=' * 80}torch.ones(1){':0' * 80}\n"
    yield "long conjunction", f"{head}x = torch.ones(1)\ny = {' and '.join(['x'] * 20_000)}\n"
    yield "long disjunction", f"{head}x = torch.ones(1)\ny = {' or '.join(['x'] * 20_000)}\n"
    yield "long text in pieces", head + "x = " + "'a' " * 20_000 + tail
    yield "deep brackets", f"{head}x = {'(' * 80}torch.ones(1){')' * 80}\n"
    yield "deep calls", f"{head}x = {'torch.relu(' * 60}torch.ones(1){')' * 60}\n"
    yield (
        "many branches",
        head
        + "".join(
            f"{'el' if n else ''}if a == {n}:\n    x = torch.ones({n})\n" for n in range(120)
        ),
    )
    yield "unicode names", f"{head}größe = torch.ones(1)\n变量 = torch.relu(größe)\n"
    yield "walrus and match", f"{head}match (y := torch.ones(1)):\n    case _: z = torch.relu(y)\n"
    yield "decorators", f"{head}@torch.no_grad()\n@staticmethod\ndef f(): return torch.ones(1)\n"
    yield "star everything", f"{head}def f(*a, **k): return torch.cat([*a], **k)\n"
    yield "async", f"{head}async def f():\n    async for a in b:\n        yield torch.relu(a)\n"
    yield "class in loop", f"{head}for i in b:\n    class A(torch.nn.Module):\n        pass\n"
    yield "lambda chain", f"{head}f = lambda: lambda: lambda: torch.ones(1)\n"
    yield "global torch", "def f():\n    global torch\n    import torch\n    torch.ones(1)\n"
    yield "deleted", f"{head}x = torch.ones(1)\ndel torch, x\n"
    yield "shadowed", f"{head}def f(torch): return torch.ones(1)\n"
    yield "conditional import", "try:\n    import torch\nexcept ImportError:\n    torch = None\n"
    yield (
        "star import",
        "from torch import *\nfrom torch.nn import *\nx = ones(1); y = Linear(1, 2)\n",
    )
    yield "self import", "import drawn\nimport torch\nfrom drawn import x\nx = torch.ones(1)\n"
    yield "recursive class", f"{head}class A(A if 0 else torch.nn.Module): A = 1\n"
    yield "rebinding", f"{head}torch = torch.nn\ntorch.Linear(1, 2)\n"


@pytest.mark.parametrize(("name", "text"), list(odd_programs()), ids=lambda word: str(word)[:30])
def test_odd_programs(name: str, text: str, tmp_path: Path, table: Table) -> None:
    path = tmp_path / "drawn.py"
    path.write_text(text, encoding="utf-8")
    found = checked(path, table)
    assert [problem for problem in found.problems if not problem.startswith("given up")] == []


@pytest.mark.parametrize(
    "data",
    [
        b"# coding: rot13\nvzcbeg gbepu\n",
        b"# coding: hex\n696d706f7274\n",
        b"# coding: unicode_escape\nimport torch\n",
        b"# coding: idna\nimport torch\n",
        b"# coding: bz2\nimport torch\n",
        b"# coding: undefined\nimport torch\n",
        b"# coding: utf-16\nimport torch\n",
        b"# coding: punycode\nimport torch\n",
        b"\xef\xbb\xbf# coding: latin-1\nimport torch\n",
        b"import torch\n\xff\xfe\n",
        b"import torch\n\x00\n",
        b"\xff\xfei\x00m\x00p\x00o\x00r\x00t\x00",
    ],
)
def test_odd_encodings(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.py"
    path.write_bytes(data)
    for words in (["analyze"], ["port", "--check"]):
        assert main([words[0], str(path), *words[1:]]) in (0, 2)
        assert "internal" not in capsys.readouterr().err


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
@pytest.mark.parametrize(
    "line",
    [
        "def f[T](x: T) -> T: return x",
        "class A[T]: pass",
        "type X = int",
        """x = f'{d["a"]}' + f"{d["b"]}" """,
        "x = f\"{'\\n'.join(d)}\"",
        "x = f'''{\n d # c\n}'''",
    ],
)
def test_newer_syntax_names_the_python_that_reads_it(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new.py"
    path.write_text(f"import torch\n{line}\n")
    for words in (["analyze"], ["port", "--check"]):
        assert main([words[0], str(path), *words[1:]]) == 2
        err = capsys.readouterr().err
        # Within a text of several lines, Python 3.11 counts on from its first one.
        place = "new.py:4" if "\n" in line else "new.py:2"
        assert "MS211" in err and "Python 3.12" in err and place in err


@pytest.mark.skipif(sys.version_info < (3, 12), reason="this Python cannot parse it")
def test_newer_syntax_is_ported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new.py"
    path.write_text(
        "import torch\nfrom torch import nn\n\ntype Pair[T] = tuple[T, torch.Tensor]\n\n\n"
        "class Box[T: nn.Module, *Ts, **P](nn.Module):\n"
        "    def forward[S: torch.Tensor](self, x: S) -> S:\n"
        """        print(f"{x.shape["a"]} {"\\n".join("b")} {f"{torch.relu(x)}"}")\n"""
        "        return torch.relu(x)\n"
    )
    assert main(["port", str(path), "--diff"]) == 0
    shown = capsys.readouterr().out
    for line in (
        "+type Pair[T] = tuple[T, Tensor]",
        "+class Box[T: nn.Cell, *Ts, **P](nn.Cell):",
        "+    def construct[S: Tensor](self, x: S) -> S:",
        "+        return ops.relu(x)",
    ):
        assert line in shown


def test_two_processes_give_what_one_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "pkg"
    source.mkdir()
    for number, name in enumerate("zcayb"):
        back = "zcayb"[number - 1]
        (source / f"{name}.py").write_text(
            f"import torch\nfrom .{back} import f as g\n\n\ndef f(x):\n"
            f"    return torch.relu(g(x)).topk({number})[0].nonesuch() + torch.absent(x)\n"
        )
    (source / "__init__.py").write_text("")
    told, written = [], []
    for jobs in ("1", "2"):
        assert main(["analyze", str(source), "--format", "json", "--jobs", jobs]) == 1
        out = tmp_path / f"out{jobs}"
        assert main(["port", str(source), "-o", str(out), "--jobs", jobs]) == 1
        told.append(capsys.readouterr().out.replace(str(out), "OUT"))
        written.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert told[0] == told[1]
    assert written[0] == written[1] and len(written[0]) >= 6
