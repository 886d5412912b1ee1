"""Launch scripts beside a ported training script: one device, several devices, evaluation."""

from __future__ import annotations

import ast
import re
from importlib.resources import files
from pathlib import Path

from migrate.errors import RequestError
from migrate.port.file import PortedFile
from migrate.port.tree import PortedTree

LAUNCHER = "launch.py"
SCRIPTS = "scripts"

_GUARD = re.compile(r"^if __name__ == ['\"]__main__['\"]", re.MULTILINE)
_TRAINS = re.compile(r"(^|[_-])train|train([_-]|$)")
_EVALUATES = re.compile(
    r"(^|[_-])(eval|evaluate|validate|val|test|infer|inference|predict)([_-]|$)"
)


def add_scaffold(tree: PortedTree) -> str:
    """Add the launcher and the scripts to what will be written; a remark where there is nothing
    to launch.
    """
    chosen = choose(tree)
    if chosen is None:
        return (
            "no training script was found: no launch scripts are written; name a directory with "
            "a script that trains when it is run and is not part of a package"
        )
    train, evaluate = chosen
    home = train.parent
    texts = {home / SCRIPTS / LAUNCHER: _template("launch.py")}
    # A script that joins its process group only when told so is told so.
    distributed = re.search(r"['\"]--distributed['\"]", tree.files[train].text) is not None
    fixed = "--script_option=--distributed " if distributed else ""
    texts[home / SCRIPTS / "run_standalone_train.sh"] = _template(
        "run_standalone_train.sh", TRAIN=train.name
    )
    texts[home / SCRIPTS / "run_distribute_train.sh"] = _template(
        "run_distribute_train.sh", TRAIN=train.name, FIXED=fixed
    )
    if evaluate is not None:
        texts[home / SCRIPTS / "run_eval.sh"] = _template("run_eval.sh", EVAL=evaluate.name)
    for target in texts:
        if target in tree.copies or target in tree.files:
            raise RequestError(
                "the sources have a file of this name, which --scaffold would replace",
                where=str(target),
                next_step="rename it, or port without --scaffold",
            )
    tree.scaffold |= texts
    return ""


def choose(tree: PortedTree) -> tuple[Path, Path | None] | None:
    """The script that trains, and the one beside it that evaluates, if there is one."""
    runnable = {
        path: ported
        for path, ported in tree.files.items()
        if ported.problem is None and not ported.source.package and _is_script(ported.text)
    }
    ranked = sorted(
        (path for path, ported in runnable.items() if _rank(path, ported) > 0),
        key=lambda path: (-_rank(path, runnable[path]), len(path.parts), str(path)),
    )
    if not ranked:
        return None
    train = ranked[0]
    evaluators = sorted(
        path
        for path in runnable
        if path != train and path.parent == train.parent and _EVALUATES.search(path.stem)
    )
    return train, evaluators[0] if evaluators else None


def _is_script(text: str) -> bool:
    """It does something when it is run: under a guard, or loops and calls at its top level."""
    if _GUARD.search(text):
        return True
    return any(
        isinstance(node, (ast.For, ast.While, ast.With, ast.Try))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in ast.parse(text).body
    )


def _rank(path: Path, ported: PortedFile) -> int:
    """How much a script looks like the one that trains: it computes gradients, its name says so."""
    return 2 * ("value_and_grad(" in ported.text) + bool(_TRAINS.search(path.stem))


def _template(name: str, **values: str) -> str:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
