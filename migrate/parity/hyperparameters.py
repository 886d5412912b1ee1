"""List the training settings of two scripts side by side, read from their source, not run."""

from __future__ import annotations

import argparse
import ast
import re
from dataclasses import dataclass
from pathlib import Path

from migrate.envelope import as_text, envelope
from migrate.errors import RequestError
from migrate.printable import printable
from migrate.syntax.ast_index import nodes_of

# What a setting is called in either framework -> the name it is listed under.
_ALIASES = {
    "learning_rate": "lr",
    "batch_size": "batch size",
    "num_epochs": "epochs",
    "max_epoch": "epochs",
    "epoch": "epochs",
    "epochs": "epochs",
    "epoch_size": "epochs",
    "num_parallel_workers": "workers",
    "num_workers": "workers",
    "use_nesterov": "nesterov",
    "beta1": "betas[0]",
    "beta2": "betas[1]",
    "epsilon": "eps",
    "drop_remainder": "drop_last",
    "milestone": "milestones",
    "T_max": "T_max",
}
_OPTIMIZERS = {
    "SGD",
    "Momentum",
    "Adam",
    "AdamW",
    "AdamWeightDecay",
    "RMSprop",
    "RMSProp",
    "Adagrad",
    "Lamb",
    "LAMB",
    "NAdam",
    "RAdam",
    "Adadelta",
    "Adamax",
    "AdaMax",
    "ASGD",
    "Rprop",
    "Lion",
}
_SCHEDULES = re.compile(r".*(LR|Scheduler|ReduceLROnPlateau|DecayLR|_lr|WarmRestarts)$")
_LOSSES = re.compile(
    r".*(Loss|WithLogits)$|^(cross_entropy|mse_loss|nll_loss|l1_loss|smooth_l1_loss)$"
)
_LOADERS = {"DataLoader", "batch"}
_SETTINGS = re.compile(
    r"^(lr|learning_rate|batch_size|epochs?|num_epochs|max_epoch|epoch_size|momentum|weight_decay|"
    r"warmup_\w+|label_smoothing|num_classes|seed|image_size|gamma|step_size|milestones?|nesterov|"
    r"clip_grad\w*|max_norm|accumulat\w+|dropout|amp_level|loss_scale)$"
)


@dataclass(frozen=True)
class Setting:
    """One value, as written, and where."""

    group: str
    name: str
    value: str
    place: str


def read(path: Path) -> list[Setting]:
    """Find the settings of a script."""
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"cannot be read ({error})", where=str(path)) from error
    except SyntaxError as error:
        raise RequestError(
            f"is not Python ({error.msg})", where=f"{path}:{error.lineno}"
        ) from error
    found: list[Setting] = []
    for node in nodes_of(tree, ast.Call, ast.Assign, ast.FunctionDef, ast.AsyncFunctionDef):
        if isinstance(node, ast.Call):
            found.extend(_from_call(node, path))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            name = _last(node.targets[0])
            if _SETTINGS.match(name) and _is_value(node.value):
                found.append(_setting("script", name, node.value, path))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.extend(_from_defaults(node, path))
    return found


def _from_call(node: ast.Call, path: Path) -> list[Setting]:
    name = _last(node.func)
    if name == "add_argument" and node.args and isinstance(node.args[0], ast.Constant):
        return _from_argument(node, path)
    group = ""
    if name in _OPTIMIZERS:
        group = "optimizer"
    elif _SCHEDULES.match(name) and name[0].isupper():
        group = "schedule"
    elif _LOSSES.match(name):
        group = "loss"
    elif name in _LOADERS:
        group = "data"
    if not group:
        return []
    settings = [Setting(group, "class", name, f"{path}:{node.lineno}")] if group != "data" else []
    positional = {"batch": ["batch_size"], "DataLoader": ["dataset", "batch_size"]}.get(name, [])
    for place, argument in zip(positional, node.args, strict=False):
        if place != "dataset":
            settings.append(_setting(group, place, argument, path))
    settings += [
        _setting(group, k.arg, k.value, path) for k in node.keywords if k.arg and k.arg != "params"
    ]
    return settings


def _from_argument(node: ast.Call, path: Path) -> list[Setting]:
    """A command-line option with a default is a setting."""
    option = max((str(a.value) for a in node.args if isinstance(a, ast.Constant)), key=len)
    name = option.lstrip("-").replace("-", "_")
    default = next((k.value for k in node.keywords if k.arg == "default"), None)
    if default is None or not _SETTINGS.match(name):
        return []
    return [_setting("script", name, default, path)]


def _from_defaults(node: ast.FunctionDef | ast.AsyncFunctionDef, path: Path) -> list[Setting]:
    arguments = node.args.args
    defaults = node.args.defaults
    named = list(zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True))
    named += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d]
    return [
        _setting("script", a.arg, d, path)
        for a, d in named
        if _SETTINGS.match(a.arg) and _is_value(d)
    ]


def _setting(group: str, name: str, value: ast.expr, path: Path) -> Setting:
    return Setting(group, _ALIASES.get(name, name), ast.unparse(value), f"{path}:{value.lineno}")


def _is_value(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@dataclass(frozen=True)
class Line:
    """One setting on both sides; None where a side does not say."""

    group: str
    name: str
    torch: Setting | None
    mindspore: Setting | None

    @property
    def differs(self) -> bool:
        ours, theirs = self.torch, self.mindspore
        return ours is not None and theirs is not None and not same_value(ours.value, theirs.value)


def pair(torch: list[Setting], mindspore: list[Setting]) -> list[Line]:
    """Put settings of one name side by side, in order of appearance."""
    lines = []
    for group in ("script", "data", "loss", "optimizer", "schedule"):
        names = dict.fromkeys(s.name for s in (*torch, *mindspore) if s.group == group)
        for name in names:
            ours = [s for s in torch if (s.group, s.name) == (group, name)]
            theirs = [s for s in mindspore if (s.group, s.name) == (group, name)]
            for index in range(max(len(ours), len(theirs))):
                left = ours[index] if index < len(ours) else None
                right = theirs[index] if index < len(theirs) else None
                lines.append(Line(group, name, left, right))
    return lines


def same_value(ours: str, theirs: str) -> bool:
    """0.1 and 1e-1 are the same; so are SGD and SGD, but not SGD and Momentum."""
    try:
        return bool(ast.literal_eval(ours) == ast.literal_eval(theirs))
    except (ValueError, SyntaxError):
        return ours == theirs


def run(options: argparse.Namespace) -> int:
    """Print the list; 1 if a setting that both scripts state differs."""
    paths = [Path(name) for name in options.hyperparameters]
    lines = pair(read(paths[0]), read(paths[1]))
    if options.format == "json":
        data = [
            {
                "group": line.group,
                "name": line.name,
                "torch": line.torch.value if line.torch else None,
                "torch_place": line.torch.place if line.torch else None,
                "mindspore": line.mindspore.value if line.mindspore else None,
                "mindspore_place": line.mindspore.place if line.mindspore else None,
                "differs": line.differs,
            }
            for line in lines
        ]
        differ = int(any(line.differs for line in lines))
        body = {"settings": data}
        print(as_text(envelope("hyperparameters", body, exit_code=differ)), end="")
    else:
        print(printable(_table(lines)))
    return 1 if any(line.differs for line in lines) else 0


def _table(lines: list[Line]) -> str:
    rows = [("", "setting", "torch", "mindspore")]
    for line in lines:
        ours = line.torch.value if line.torch else "-"
        theirs = line.mindspore.value if line.mindspore else "-"
        mark = "!" if line.differs else ("?" if "-" in (ours, theirs) else "")
        rows.append((mark, f"{line.group}: {line.name}", ours, theirs))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    text = "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    differing = sum(line.differs for line in lines)
    alone = sum(row[0] == "?" for row in rows)
    return (
        f"{text}\n\n{differing} settings have different values (marked !); "
        f"{alone} are set in one script only (marked ?)"
    )
