"""torchvision's model files ported along, for a program that builds on them."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from migrate.errors import RequestError
from migrate.project import Project, ReadProblem, SourceFile
from migrate.rewrite.names.local_imports import local_imports
from migrate.syntax.import_planner import HELPER_MODULE, HELPERS

PACKAGE = "torchvision_models"
_ALWAYS = ("_api", "_utils", "_meta")
_PARTS = ("segmentation", "video")  # subpackages that port whole
_LEFT_OUT = ("feature_extraction",)  # edits graphs of torch.fx, which MindSpore has not
# Models chosen by a string; {0} is what the program calls the package.
_ANY_MODEL = (
    r"\b(?:get_model|get_model_builder|get_model_weights|get_weight|list_models)\b"
    r"|\b(?:{0})\.__dict__|(?:getattr|vars)\(\s*(?:torchvision\.)?(?:{0})\b"
)
_ALIAS = re.compile(r"\bmodels\s+as\s+(\w+)")
_IMPORTED = re.compile(r"^\s*(?:from|import)\s+torchvision\b", re.MULTILINE)
_SIBLING = re.compile(r"^\s*from\s+(\.+)([\w.]*)\s+import\s+(.*)$", re.MULTILINE)


@dataclass(slots=True, eq=False)
class UserFile(SourceFile):
    """A file of the program, whose imports of torchvision's models lead to the ported ones."""

    dots: str = ""  # how a file inside a package reaches the output's top

    def read(self) -> str:
        return local_imports(SourceFile.read(self), PACKAGE, self.dots)


@dataclass(slots=True, eq=False)
class ModelFile(SourceFile):
    """One of torchvision's files, as a part of the package that is written beside the program."""

    target: Path = Path()
    text: str = ""  # where it is not the file's own
    inside: str = ""  # the package of the program that it lies in

    @property
    def depth(self) -> int:
        """How many packages it lies in, from torchvision's own on."""
        return self.package.removeprefix(self.inside).strip(".").count(".") + 1

    def read(self) -> str:
        """What it imports from the rest of torchvision is torchvision's, wherever the file is."""
        if self.text:
            return self.text
        outside = re.escape("." * (self.depth + 1))
        beyond = re.compile(rf"^(\s*from\s+){outside}(?=\w)", re.MULTILINE)
        return beyond.sub(r"\1torchvision.", SourceFile.read(self))

    @property
    def helper_home(self) -> tuple[Path, str]:
        """Its helpers lie at the top of the package."""
        home = self.target.parents[self.depth - 1]
        return home, f"from {'.' * self.depth} import {HELPER_MODULE} as {HELPERS}"


def is_edited(source: SourceFile, text: str) -> bool:
    """Whether the text to be written is not the one on disk, whatever the porter did to it."""
    if isinstance(source, ModelFile):
        return True
    return isinstance(source, UserFile) and bool(text) and text != SourceFile.read(source)


def find_models(given: str) -> Path:
    """The folder of torchvision's models: as given, or of the torchvision installed here."""
    if given:
        folder = Path(given)
        folder = folder if (folder / "resnet.py").is_file() else folder / "models"
    else:
        found = importlib.util.find_spec("torchvision")
        origin = found.origin if found else None
        folder = Path(origin or "torchvision").parent / "models"
    if not (folder / "resnet.py").is_file():
        raise RequestError(
            f"torchvision's models are not in {folder}"
            if given
            else "torchvision is not installed",
            next_step="give the folder of its sources: --with-torchvision DIR",
        )
    return folder


def with_local_models(
    project: Project, folder: Path, homes: dict[SourceFile, tuple[Path, str]]
) -> Project:
    """The project and the model files that it uses, each under the name it will have.

    `homes` says where a file's helpers go and how it imports them: the models go there too.
    """
    using = {file: text for file in project.files if _IMPORTED.search(text := _text(file))}
    chosen = _chosen(folder, using.values())
    if not chosen:
        return project
    base = min((homes[file][0] for file in using), key=lambda home: len(home.parts))
    users: list[SourceFile] = []
    inside = ""
    for f in project.files:
        home, line = homes[f]
        # Models that lie outside a file's package are on Python's path, as the scripts there are.
        dots = re.sub(r"^from (\.+) .*|.*", r"\1", line) if home == base else ""
        if dots and f in using:
            parts = f.package.split(".")
            inside = ".".join(parts[: len(parts) - len(dots) + 1])
        users.append(
            UserFile(f.path, f.module, f.package, f.is_package, f.notebook, f.root, dots=dots)
        )
    return Project([*users, *_model_files(folder, chosen, base, inside)], project.skipped)


def _text(file: SourceFile) -> str:
    try:
        return file.read()
    except ReadProblem:
        return ""


def _chosen(folder: Path, texts: Iterable[str]) -> list[str]:
    """Modules that the program names, or all of them where it chooses by a string; then what those
    need.
    """
    public = {path.stem: _public_names(path) for path in sorted(folder.glob("*.py"))}
    public = {
        stem: names
        for stem, names in public.items()
        if names and not stem.startswith("_") and stem not in _LEFT_OUT
    }
    whole = "\n".join(texts)
    words = set(re.findall(r"\w+", whole))
    if re.search(_ANY_MODEL.format("|".join(["models", *_ALIAS.findall(whole)])), whole):
        wanted = set(public)
    else:
        wanted = {stem for stem, names in public.items() if stem in words or names & words}
    for part in _PARTS:
        names = {name for path in (folder / part).glob("*.py") for name in _public_names(path)}
        if names & words:
            wanted |= {f"{part}/{path.stem}" for path in (folder / part).glob("*.py")}
    named = set(re.findall(r"\btorchvision\.models\.(\w+)", whole)) - set(_LEFT_OUT)
    wanted |= {stem for stem in named if (folder / f"{stem}.py").is_file()}
    return _with_needed(folder, wanted) if wanted else []


def _with_needed(folder: Path, wanted: set[str]) -> list[str]:
    """The modules and all that they import."""
    pending, needed = [*wanted, *_ALWAYS], set()
    while pending:
        module = pending.pop()
        path = folder / f"{module}.py"
        if module in needed or not path.is_file():
            continue
        needed.add(module)
        pending += _neighbours(module, path.read_text(encoding="utf-8"))
    return sorted(needed - {"__init__"})


def _public_names(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for statement in tree.body:
        if not isinstance(statement, ast.Assign):
            continue
        stated = isinstance(statement.value, (ast.List, ast.Tuple))
        if stated and ast.unparse(statement.targets[0]) == "__all__":
            return set(ast.literal_eval(statement.value))
    return set()


def _neighbours(module: str, text: str) -> list[str]:
    """Modules of the package that this one imports from."""
    part = module.rpartition("/")[0]
    found = []
    for dots, name, names in _SIBLING.findall(text):
        level = len(dots) - (1 if part else 0)
        if level > 1:
            continue  # the rest of torchvision
        where = part if len(dots) == 1 and part else ""
        modules = [name.replace(".", "/")] if name else re.findall(r"\w+", names)
        found += [f"{where}/{m}" if where else m for m in modules]
    return found


def _model_files(folder: Path, chosen: list[str], base: Path, inside: str) -> list[ModelFile]:
    package = f"{inside}.{PACKAGE}" if inside else PACKAGE
    files = [
        ModelFile(
            folder / f"{module}.py",
            ".".join([package, *module.removesuffix("/__init__").split("/")]),
            ".".join([package, *module.split("/")[:-1]]),
            module.endswith("__init__"),
            notebook=False,
            root=str(folder.parent),
            target=base / PACKAGE / f"{module}.py",
            inside=inside,
        )
        for module in chosen
    ]
    top = [module for module in chosen if "/" not in module and not module.startswith("_")]
    parts = sorted({module.partition("/")[0] for module in chosen if "/" in module})
    lines = [f"from .{module} import *" for module in top]
    lines += [f"from . import {', '.join(parts)}"] if parts else []
    lines.append("from ._api import get_model, get_model_builder, get_model_weights, get_weight")
    lines.append("from ._api import list_models, Weights, WeightsEnum")
    start = ModelFile(
        folder / "__init__.py",
        package,
        package,
        True,
        notebook=False,
        root=str(folder.parent),
        target=base / PACKAGE / "__init__.py",
        inside=inside,
        text="\n".join(['"""torchvision\'s models, as MindSpore code."""', "", *lines, ""]),
    )
    return [start, *files]
