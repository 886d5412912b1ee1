"""Rows hold in every MindSpore release they claim to hold for, and older ones can be asked for."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.table import Entry, Overload, Table
from migrate.table.entry import VERSIONS, version_key
from migrate.table.helper_pieces import helper_index
from migrate.table.signature import REQUIRED, parse_signature
from tests.table.emitted_calls import (
    ROOTS,
    EmittedCall,
    calls_in,
    from_template,
    method_calls_in,
    names_in,
    roots_of,
)
from tests.table.mindspore_source import ANY, installed
from tests.table.scan_wheels import COMPILED, Facts, in_version, read_facts

PORTER = Path(__file__).parents[2] / "migrate" / "port"
# Keywords that the CPU kernels take, as was run, though the docstring names another form only.
UNDOCUMENTED = {("mindspore.Tensor.matmul", "other"), ("mindspore.Tensor.narrow", "axis")}


@cache
def facts() -> Facts:
    return read_facts()


def forms_in(name: str, version: str) -> str | None:
    """A name's parameter lists in a release.

    The facts hold the members of classes that some row or helper mentioned when they were written;
    a member that nobody mentioned before is taken to be as old as its class.
    """
    owner = name.rpartition(".")[0]
    if name in facts() or in_version(facts(), owner, version) is None:
        return in_version(facts(), name, version)
    found = installed().find(name)
    return None if found is None else " | ".join(found.forms)


def report(problems: list[str]) -> None:
    assert not problems, "\n" + "\n".join(problems)


# The facts ----------------------------------------------------------------------------------------


@pytest.mark.frameworks
def test_the_newest_release_is_the_installed_one():
    """The facts are read from text: the installed package must read the same."""
    now = {name: " | ".join(d.forms) for name, d in installed().names()}
    kept = {name: in_version(facts(), name, VERSIONS[-1]) for name in facts()}
    wrong = [f"{n}: ({now[n]}), not ({kept.get(n)})" for n in now if now[n] != kept.get(n)]
    report(wrong)
    gone = [n for n in kept if kept[n] is not None and n not in now and n not in COMPILED]
    report([f"there is no {n}" for n in gone if installed().find(n) is None])


def test_a_name_has_a_history():
    assert in_version(facts(), "mindspore.mint.vdot", "2.9") is None
    assert in_version(facts(), "mindspore.mint.vdot", "2.10") == "input, other"
    assert in_version(facts(), "mindspore.Tensor.fill_diagonal_", "2.8") == "fill_value, warp=False"
    assert in_version(facts(), "mindspore.Tensor.fill_diagonal_", "2.9") == "fill_value, wrap=False"
    assert in_version(facts(), "mindspore.nn.Cell.to", "2.9") is None


@pytest.mark.parametrize(
    ("source", "forms", "fits"),
    [
        ("ops.f(x, dim=1)", "input, dim=None", True),
        ("ops.f(x, axis=1)", "input, dim=None", False),
        ("ops.f(x, axis=1)", "input, dim=None | input, axis=None", True),
        ("ops.f(x, 1, 2)", "input, dim=None", False),
        ("ops.f(x, input=1)", "input, dim=None", False),
        ("ops.f(dim=1)", "input, dim=None", False),
        ("ops.f(*xs, dim=1)", "input, dim=None", True),
        ("ops.f(x, 1, 2)", "*size, dtype=None", True),
        ("ops.f(x, anything=1)", ANY, True),
        ("ops.f()", "", True),
        ("ops.f(1)", "", False),
    ],
)
def test_a_call_fits_a_parameter_list(source, forms, fits):
    (call,) = calls_in(ast.parse(source), ROOTS)
    assert (call.name, call.fits(forms)) == ("mindspore.ops.f", fits)


# Rows ---------------------------------------------------------------------------------------------


def holds(form: Overload, version: str) -> bool:
    return version_key(form.since) <= version_key(version)


def written_keywords(form: Overload) -> set[str]:
    """MindSpore parameters that a call of this form may be written with."""
    written = set(form.pin) | set(form.rename.values())
    signature = form.signature
    if signature is None or form.rules:
        return written  # a rule may replace what is not named here
    gone = {*form.drop, *form.refuse}
    gone |= {name for name, table in form.values.items() if not any(table.values())}
    optional = [p for p in signature.parameters if p.default != REQUIRED and p.name not in gone]
    return written | {form.rename.get(p.name, p.name) for p in optional}


def missing_names(tree: ast.AST, roots: dict[str, str], version: str) -> list[str]:
    return [
        f"no {name} in {version}"
        for name in names_in(tree, roots)
        if forms_in(name, version) is None
    ]


def unfit_calls(calls: list[EmittedCall], version: str) -> list[str]:
    wrong = []
    for call in calls:
        forms = forms_in(call.name, version)
        if forms is not None and not call.fits(forms):
            wrong.append(f"{call} does not fit ({forms}) in {version}")
    return wrong


def target_problems(form: Overload, version: str) -> list[str]:
    """The target and the keywords that a call of it may carry."""
    if not form.mindspore:
        return []
    forms = forms_in(form.mindspore, version)
    if forms is None:
        return [f"no {form.mindspore} in {version}"]
    lists = [parse_signature(text) for text in forms.split(" | ") if text != ANY]
    if not lists or any(one.varkwargs for one in lists):
        return []
    known = {name for one in lists for name in one.names}
    return [
        f"{form.mindspore} has no {keyword} in {version}, only {sorted(known)}"
        for keyword in sorted(written_keywords(form) - known)
        if (form.mindspore, keyword) not in UNDOCUMENTED
    ]


def template_problems(entry: Entry, emit: str, version: str) -> list[str]:
    if not emit:
        return []
    tree = from_template(emit)
    calls = list(calls_in(tree, ROOTS))
    if entry.torch.startswith("torch.Tensor."):
        calls += method_calls_in(tree, "hole_self", "mindspore.Tensor")
    return missing_names(tree, ROOTS, version) + unfit_calls(calls, version)


@cache
def helper_problems(name: str, version: str) -> tuple[str, ...]:
    """What a helper, with all that it needs, uses and a release does not have."""
    wrong: list[str] = []
    for definition in helper_index().closure([name]):
        tree = ast.parse("\n".join([*definition.imports, definition.source]))
        roots = roots_of(tree)
        wrong += missing_names(tree, roots, version)
        wrong += unfit_calls(list(calls_in(tree, roots)), version)
    return tuple(f"helper {name}: {problem}" for problem in dict.fromkeys(wrong))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_row_holds_in_the_versions_it_claims(version):
    problems = []
    for entry in Table():
        for form in entry.overloads:
            if not holds(form, version):
                continue
            found = target_problems(form, version) + template_problems(entry, form.emit, version)
            used = {form.helper, *re.findall(r"\bhelpers\.(\w+)", form.emit)} - {""}
            for helper in sorted(used):
                found += helper_problems(helper, version)
            problems += [f"{entry.torch}: {problem}" for problem in found]
    report(problems)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_since_is_not_later_than_it_must(version):
    """A row that asks for a release while the one before would do refuses users for nothing."""
    older = VERSIONS[max(version_key(version) - 1, 0)]
    idle = [
        f"{entry.torch}: since {version}, and {older} has all that it needs"
        for entry in Table()
        for form in entry.overloads
        if form.since == version
        and not target_problems(form, older)
        and not template_problems(entry, form.emit, older)
        and not any(helper_problems(h, older) for h in {form.helper} - {""})
    ]
    report(idle)


def test_what_the_porter_itself_writes_is_in_all_versions():
    """Names in rules and rewriters, which no row states."""
    problems = []
    for path in sorted(PORTER.rglob("*.py")):
        if path.parent.name == "helpers":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else ""
            if isinstance(text, str) and re.fullmatch(r"mindspore(\.\w+)*\.[A-Za-z]\w+", text):
                problems += [
                    f"{path.name}: no {text} in {version}"
                    for version in VERSIONS
                    if in_version(facts(), text, version) is None and installed_module(text) is None
                ]
    report(problems)


def installed_module(name: str) -> str | None:
    """`mindspore.nn` is a module: the facts list what is in it."""
    return name if any(known.startswith(f"{name}.") for known in facts()) else None


# Asking for a version -----------------------------------------------------------------------------

DATED = """
[[api]]
torch = "torch.fresh"
kind = "function"
params = "input"
mindspore = "mindspore.ops.fresh"
since = "2.9"
way = "compute it with ops.old"

[[api]]
torch = "torch.either"
kind = "function"
params = "input, dim=None"
[[api.overload]]
mindspore = "mindspore.ops.either"
since = "2.8"
[[api.overload]]
emit = "ops.older({input})"
refuse = { dim = "since MindSpore 2.8" }

[[api]]
torch = "torch.always"
kind = "function"
mindspore = "mindspore.ops.always"
"""


def dated(folder: Path, version: str) -> Table:
    (folder / "torch.toml").write_text(DATED)
    return Table(folder, version=version)


def test_a_row_of_a_later_version_is_missing_and_says_so(tmp_path):
    row = dated(tmp_path, "2.8").get("torch.fresh")
    assert row is not None
    assert (row.status, row.main.mindspore) == ("missing", "")
    assert row.main.params == "input"
    assert row.note == "mindspore.ops.fresh needs MindSpore 2.9; MindSpore 2.8 does not have it"
    assert row.way == "use MindSpore 2.9 or later, or compute it with ops.old"


@pytest.mark.parametrize("version", ["2.9", "2.10", ""])
def test_it_is_there_from_its_version_on(tmp_path, version):
    row = dated(tmp_path, version).get("torch.fresh")
    assert row is not None
    assert (row.status, row.since) == ("supported", "2.9")


def test_an_older_version_takes_the_other_form(tmp_path):
    row = dated(tmp_path, "2.7").get("torch.either")
    assert row is not None
    assert [form.emit for form in row.overloads] == ["ops.older({input})"]
    newer = dated(tmp_path, "2.10").get("torch.either")
    assert newer is not None
    assert newer.main.mindspore == "mindspore.ops.either"


def test_rows_without_a_version_are_untouched(tmp_path):
    old, new = (dated(tmp_path, version).get("torch.always") for version in ("2.7", ""))
    assert old == new
    assert len(list(dated(tmp_path, "2.7"))) == len(list(dated(tmp_path, "")))


def test_an_unknown_version_is_a_mistake(tmp_path):
    from migrate.table import TableError

    (tmp_path / "torch.toml").write_text(DATED.replace('"2.9"', '"2.6"'))
    with pytest.raises(TableError, match=r"since is '2\.6'"):
        list(Table(tmp_path))


SOURCE = """import torch
from torch import nn


def where(x: torch.Tensor):
    return x.is_pinned()


def place(x: torch.Tensor):
    return x.device


def watch(model: nn.Module, hook):
    model.register_forward_hook(hook, prepend=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("2.7", ("mindspore.Tensor.is_pinned needs MindSpore 2.8", "since MindSpore 2.9")),
        ("2.8", ("since MindSpore 2.9",)),
        ("2.9", ()),
        ("2.10", ()),
    ],
)
def test_the_commands_judge_and_port_for_a_version(program, capsys, version, words):
    reasons = ("needs MindSpore 2.8", "since MindSpore 2.9")
    for command in (["analyze", "--mode", "pynative"], ["port", "--diff"]):
        main([command[0], str(program), *command[1:], "--ms-version", version])
        said = " ".join("".join(capsys.readouterr()).split())
        for reason in reasons:
            expected = any(reason in word for word in words)
            assert (reason in said) == expected, f"{command[0]} {version}: {reason}\n{said}"


@pytest.mark.parametrize(
    ("version", "written"), [("2.7", "get_context('device_target')"), ("2.8", "x.device")]
)
def test_an_older_version_is_written_in_its_own_way(program, tmp_path, version, written):
    main(["port", str(program), "-o", str(tmp_path / version), "--ms-version", version, "-q"])
    text = (tmp_path / version / "program.py").read_text()
    assert written in text.replace('"', "'").partition("def place")[2]


def test_only_releases_that_were_read_can_be_asked_for(program, capsys):
    with pytest.raises(SystemExit):
        main(["analyze", str(program), "--ms-version", "2.6"])
    assert "2.7" in capsys.readouterr().err


def test_data_loading_before_mindspore_had_a_loader():
    """Rows of earlier.toml take the place of those that need the later release."""
    row = "torch.utils.data.DataLoader"
    assert Table().get(row).main.helper == "DataLoader"
    for version in VERSIONS[:-1]:
        table = Table(version=version)
        assert table.get(row).main.helper == "ThreadedDataLoader"
        assert not helper_problems("ThreadedDataLoader", version)
        assert table.get("torch.utils.data.get_worker_info").main.emit == "None"
    assert helper_problems("DataLoader", VERSIONS[-2])
