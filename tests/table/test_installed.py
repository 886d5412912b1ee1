"""Every row against the installed versions: names, parameters, targets, helpers, rules, order."""

from __future__ import annotations

import ast
import enum
import inspect
import re
import tomllib
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from migrate.resources import folder
from migrate.table import Entry, Overload, Table
from migrate.table.signature import REQUIRED, Signature

pytestmark = pytest.mark.frameworks

FILES = sorted(Table().namespaces)
HELPERS = Path(import_module("migrate").__file__).parent / "emit" / "helpers"
_ROOTS = {"ops": "mindspore.ops", "nn": "mindspore.nn", "mint": "mindspore.mint"}


def rows(file: str) -> dict[str, Entry]:
    return {name: row for name, row in Table()._load(file).items() if name == row.torch}


def report(problems: list[str]) -> None:
    assert not problems, "\n" + "\n".join(problems)


# torch ------------------------------------------------------------------------------------------


@cache
def torch_object(name: str) -> Any:
    """The object behind a torch name; an attribute that only instances have gives its name."""
    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    parts = name.split(".")
    found: Any = None
    for depth in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:depth]))
            break
        except ImportError:
            continue
    for part in parts[depth:]:
        if hasattr(found, part):
            found = getattr(found, part)
        elif (
            (inspect.isclass(found) and part == parts[-1] and sets_attribute(found, part))
            or (name.startswith("torch.return_types.") and is_result_field(found, part))
            or written_in_unimportable_module(parts)
        ):
            return name
        else:
            raise AttributeError(f"{name}: there is no {part}")
    return found


def is_result_field(module: Any, name: str) -> bool:
    """torch.return_types.values stands for the field `values` of any result that has it."""
    return any(hasattr(result, name) for result in vars(module).values() if inspect.isclass(result))


def written_in_unimportable_module(parts: list[str]) -> bool:
    """torch.utils.tensorboard needs a package of its own: then its source tells what it has."""
    for depth in range(len(parts) - 1, 1, -1):
        try:
            spec = find_spec(".".join(parts[:depth]))
        except ImportError:
            continue
        if spec is None or not spec.submodule_search_locations:
            continue
        sources = Path(spec.submodule_search_locations[0]).glob("*.py")
        text = "\n".join(path.read_text() for path in sources)
        return all(re.search(rf"\b(class|def) {part}\b", text) for part in parts[depth:])
    return False


def sets_attribute(owner: type, name: str) -> bool:
    """Do the class or its bases annotate, assign or register this attribute of an instance?"""
    written = re.compile(rf"self\.{name}\b[^=\n]*=|register_\w+\(\s*[\"']{name}[\"']|setattr\(self")
    for base in owner.__mro__[:-1]:
        if name in getattr(base, "__annotations__", {}) or name in getattr(base, "_fields", ()):
            return True
        try:
            if written.search(inspect.getsource(base)):
                return True
        except (OSError, TypeError):
            continue
    return False


@pytest.mark.parametrize("file", FILES)
def test_torch_has_every_name(file):
    problems = []
    for name in rows(file):
        try:
            torch_object(name)
        except AttributeError as error:
            problems.append(str(error))
    report(problems)


def torch_signature(entry: Entry) -> inspect.Signature | None:
    """torch's own parameters where Python can tell them; C functions and catch-alls cannot."""
    if entry.kind in ("attribute", "constant", "dtype", "module") or entry.torch.endswith("__"):
        return None
    found = torch_object(entry.torch)
    if isinstance(found, str) or not callable(found) or isinstance(found, enum.EnumType):
        return None
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return None
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return None
    return signature


@pytest.mark.parametrize("file", FILES)
def test_params_are_those_of_torch(file):
    problems = []
    for name, entry in rows(file).items():
        actual = torch_signature(entry)
        if actual is None:
            continue
        names = [n for n in actual.parameters if not (entry.kind == "method" and n == "self")]
        for form in entry.overloads:
            stated = form.signature
            if stated is None or stated.varargs or stated.varkwargs:
                continue
            if len(entry.overloads) == 1 and list(stated.names) != names:
                problems.append(f"{name}: params are {list(stated.names)}, torch's are {names}")
            elif strangers := set(stated.names) - set(names):
                problems.append(f"{name}: torch has no {sorted(strangers)}, only {names}")
            else:
                problems += wrong_defaults(name, stated, actual)
    report(problems)


def wrong_defaults(name: str, stated: Signature, actual: inspect.Signature) -> list[str]:
    """Defaults that differ as constants; a form may ask for what torch lets out."""
    wrong = []
    for parameter in stated.parameters:
        default = actual.parameters[parameter.name].default
        if parameter.default == REQUIRED or default is inspect.Parameter.empty:
            if parameter.default != REQUIRED:
                wrong.append(f"{name}: {parameter.name} has no default in torch")
            continue
        try:
            value = ast.literal_eval(parameter.default)
        except (ValueError, SyntaxError):
            continue
        plain = isinstance(default, int | float | str | bool | tuple | list | type(None))
        if plain and value != default and not (value != value and default != default):
            wrong.append(f"{name}: {parameter.name}={parameter.default}, torch has {default!r}")
    return wrong


# MindSpore --------------------------------------------------------------------------------------

PROBE = """
import inspect, json, re, sys
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
import mindspore, mindspore.mint, mindspore.common.initializer, mindspore.dataset
written = r"self\\.{0}\\b[^=\\n]*=|register_\\w+\\(\\s*['\\"]{0}['\\"]"

def find(name):
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:depth]))
            break
        except ImportError:
            continue
    for part in parts[depth:]:
        if hasattr(found, part):
            found = getattr(found, part)
            continue
        for base in getattr(found, "__mro__", ())[:-1]:
            if re.search(written.format(part), inspect.getsource(base)):
                return None
        raise AttributeError(part)
    return found

def parameters(found):
    init = found.__init__ if inspect.isclass(found) else found
    for wrapped in (found, getattr(init, "__wrapped__", init), init):
        try:
            signature = inspect.signature(wrapped)
        except (TypeError, ValueError):
            continue
        kinds = {p.kind.name for p in signature.parameters.values()}
        if not kinds & {"VAR_KEYWORD", "VAR_POSITIONAL"}:
            return list(signature.parameters)
    return None

result = {}
for name in NAMES:
    try:
        found = find(name)
        result[name] = parameters(found) if callable(found) else None
    except Exception as error:
        result[name] = "missing"
"""


def names_in_template(emit: str) -> set[str]:
    """The MindSpore paths that a template mentions."""
    tree = ast.parse(re.sub(r"\{(\w+)\}", r"hole_\1", emit), mode="eval")
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            path = ast.unparse(node)
            root, _, rest = path.partition(".")
            if re.fullmatch(r"[\w.]+", path) and (root == "mindspore" or root in _ROOTS):
                found.add(f"{_ROOTS.get(root, root)}.{rest}")
    return found


def targets(form: Overload) -> set[str]:
    named = {name for name in (form.mindspore, form.mint) if name}
    return named | (names_in_template(form.emit) if form.emit else set())


@pytest.fixture(scope="module")
def mindspore_parameters(tmp_path_factory) -> dict[str, list[str] | str | None]:
    """What MindSpore has under every name the tables mention, from one fresh interpreter."""
    import json
    import subprocess
    import sys

    wanted = sorted(
        {name for entry in Table() for form in entry.overloads for name in targets(form)}
    )
    answer = tmp_path_factory.mktemp("probe") / "answer.json"
    code = f"NAMES = {wanted!r}\n{PROBE}\nopen({str(answer)!r}, 'w').write(json.dumps(result))\n"
    code += "import os; os._exit(0)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120)
    return json.loads(answer.read_text())


@pytest.mark.parametrize("file", FILES)
def test_mindspore_has_every_target(file, mindspore_parameters):
    report(
        [
            f"{name}: there is no {target}"
            for name, entry in rows(file).items()
            for form in entry.overloads
            for target in sorted(targets(form))
            if mindspore_parameters[target] == "missing"
        ]
    )


@pytest.mark.parametrize("file", FILES)
def test_mindspore_takes_every_keyword(file, mindspore_parameters):
    problems = []
    for name, entry in rows(file).items():
        for form in entry.overloads:
            known = mindspore_parameters.get(form.mindspore)
            if not isinstance(known, list):
                continue
            unknown = keywords(form) - set(known)
            if unknown:
                problems.append(f"{name}: {form.mindspore} has no {sorted(unknown)}, only {known}")
    report(problems)


def keywords(form: Overload) -> set[str]:
    """MindSpore parameters that a call of this form may be written with."""
    written = set(form.pin) | set(form.rename.values())
    signature = form.signature
    if signature is None or set(form.rules):
        return written  # a rule may replace what is not named here
    gone = {*form.drop, *form.refuse}
    gone |= {name for name, table in form.values.items() if not any(table.values())}
    optional = [
        p.name for p in signature.parameters if p.default != REQUIRED and p.name not in gone
    ]
    return written | {form.rename.get(name, name) for name in optional}


# Our own names ----------------------------------------------------------------------------------


@cache
def helper_definitions() -> dict[str, list[str]]:
    """Top-level names of the helper files, and the files that define them."""
    found: dict[str, list[str]] = {}
    for path in sorted(HELPERS.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.setdefault(node.name, []).append(path.name)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    found.setdefault(ast.unparse(target), []).append(path.name)
    return found


@pytest.mark.parametrize("file", FILES)
def test_helpers_and_rules_exist(file):
    from migrate.rewrite.rules import all_rules

    problems = []
    for name, entry in rows(file).items():
        for form in entry.overloads:
            used = {form.helper} if form.helper else set()
            used |= set(re.findall(r"\bhelpers\.(\w+)", form.emit))
            problems += [f"{name}: no helper {h}" for h in sorted(used - set(helper_definitions()))]
            missing = set(form.rules) - set(all_rules())
            problems += [f"{name}: no rule {rule}" for rule in sorted(missing)]
    report(problems)


def test_helper_names_are_unique():
    """The bundler writes all helpers of a port into one module."""
    report([f"{name}: {files}" for name, files in helper_definitions().items() if len(files) > 1])


@pytest.mark.parametrize("file", FILES)
def test_templates_use_known_holes(file):
    problems = []
    for name, entry in rows(file).items():
        for form in entry.overloads:
            known = set(form.signature.names) if form.signature else set()
            known |= {"self"} if entry.kind in ("method", "attribute") else set()
            unknown = set(re.findall(r"\{(\w+)\}", form.emit)) - known
            if unknown:
                problems.append(f"{name}: emit has {sorted(unknown)}, known are {sorted(known)}")
    report(problems)


@pytest.mark.parametrize("file", FILES)
def test_rows_are_sorted_and_in_their_file(file):
    problems = []
    for section in sections((folder("mappings") / f"{file}.toml").read_text()):
        for family in section.get("family", ()):
            problems += out_of_order(list(family["names"]))
        for key in ("api", "family"):
            problems += out_of_order([first_name(row) for row in section.get(key, ())])
    problems += [f"{name} is not below {file}" for name in rows(file) if not belongs(name, file)]
    report(problems)


@pytest.mark.parametrize("file", FILES)
def test_rows_that_differ_in_nothing_but_their_name_are_a_family(file):
    document = tomllib.loads((folder("mappings") / f"{file}.toml").read_text())
    alike: dict[str, list[str]] = {}
    for row in document.get("api", ()):
        name = row["torch"].rpartition(".")[2]
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "{name}", repr(sorted(row.items())))
        alike.setdefault(text, []).append(row["torch"])
    report([f"write {names} as one family" for names in alike.values() if len(names) > 2])


def sections(text: str) -> list[dict[str, Any]]:
    """The parts of a file between comment lines, each of which starts over in its order."""
    return [tomllib.loads(part) for part in re.split(r"\n(?=# )", text)]


def out_of_order(names: list[str]) -> list[str]:
    """Neighbours in the wrong order; capitals may come first or not count, all through the file."""
    pairs = list(pairwise(names))
    orders = [[(a, b) for a, b in pairs if key(b) < key(a)] for key in (str, str.casefold)]
    return [f"{b} comes after {a}" for a, b in min(orders, key=len)]


def first_name(row: dict[str, Any]) -> str:
    return row["torch"].replace("{name}", next(iter(row.get("names", [""]))))


def belongs(name: str, file: str) -> bool:
    """Is this the file in which the name is looked up? A class may stand in its own or above."""
    owner = name.rpartition(".")[0]
    while owner not in FILES:
        owner = owner.rpartition(".")[0]
    return file in (name, owner)


@pytest.mark.parametrize("file", FILES)
def test_a_missing_row_says_why_and_what_to_do(file):
    report(
        [
            f"{name}: a missing API needs note and way"
            for name, entry in rows(file).items()
            if entry.status == "missing" and not (entry.note and entry.way)
        ]
    )


def test_aliases_lead_to_rows():
    table = Table()
    exact, _ = table._aliases
    report(
        [f"{old} -> {new}, which has no row" for old, new in exact.items() if not table.get(old)]
    )
