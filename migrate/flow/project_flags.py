"""What a program does elsewhere: freezes parameters, cycles momentums, reads gradients."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from migrate.project import Project, ReadProblem, SourceFile

# torch's optimizers pass frozen parameters by, MindSpore's do not.
# `p.requires_grad = flag`, `nn.Parameter(x, requires_grad=False)`, `net.requires_grad_(False)`
_SETS = re.compile(r"\.requires_grad\s*=(?!=)|requires_grad\s*=\s*False|requires_grad_\(")
# ... and those of them that may thaw what was frozen
_THAWS = re.compile(r"\.requires_grad\s*=(?!=|\s*False)|requires_grad_\((?!\s*False)")

# `p.grad`, but neither autograd.grad(...) nor a function's own name
_GRADIENTS = re.compile(r"(?<!autograd)\.grad\b(?!\s*\()")

# f"{loss:.3f}", "{:6.2f}", ':.4e' for a format that is put together: numbers, or tensors of one
_FORMATS = re.compile(r":[ <>^+]?\d*,?(\.\d+)?[efgEFG%]['\"}]")
_BACKWARD = re.compile(r"\.backward\(")

_OPTIMIZERS = re.compile(r"\boptim\b|\bOptimizer\b")
_ADDS = re.compile(r"\.add_param_group\(")
_CYCLES = re.compile(r"\b(OneCycleLR|CyclicLR)\b")


# torch.isnan(loss), math.isfinite(x), np.isnan, set_detect_anomaly, float("nan")
_LOOKS_FOR_NAN = re.compile(
    r"\b(isnan|isfinite|isinf|nan_to_num|nansum|nanmean|detect_anomaly|set_detect_anomaly)\b"
    r"|\bfloat\(['\"]nan['\"]\)|\bnp\.nan\b|\bmath\.nan\b"
)


_EVAL = re.compile(r"\.eval\(")
# What computes something else in training mode, as far as words tell.
_DEPENDS_ON_MODE = re.compile(
    r"dropout|drop_path|batch_?norm|instance_?norm|rrelu|\.training\b|transformer|spectral_norm"
    r"|stochastic_depth|torchvision(\.| import [^\n]*)models|timm|\.train\(|\.eval\(",
    re.IGNORECASE,
)


def looks_for_nan(project: Project) -> bool:
    """Somewhere in these files values are tested for NaN: kernels must not swallow it."""
    return _any_has(tuple(project.files), _LOOKS_FOR_NAN)


def sets_requires_grad(project: Project) -> bool:
    """Somewhere in these files requires_grad is set, not only looked at."""
    return _any_has(tuple(project.files), _SETS)


def makes_optimizers(project: Project) -> bool:
    """Somewhere in these files optimizers are made, or classes of them."""
    return _any_has(tuple(project.files), _OPTIMIZERS)


def adds_groups(project: Project) -> bool:
    """Optimizers get parameters after they were made."""
    return _any_has(tuple(project.files), _ADDS)


def thaws(project: Project) -> bool:
    """Parameters may be frozen when the optimizer is made, and trained later."""
    return _any_has(tuple(project.files), _THAWS)


def cycles_momentum(project: Project) -> bool:
    """A schedule moves the momentum too: MindSpore's AdamW would compile anew every step."""
    return _any_has(tuple(project.files), _CYCLES)


def formats_values(project: Project) -> bool:
    """Somewhere in these files values are formatted as numbers, in a program that trains."""
    return trains(project) and _any_has(tuple(project.files), _FORMATS)


def formats_numbers(text: str) -> bool:
    """Whether this file formats values as numbers."""
    return _FORMATS.search(text) is not None


def trains(project: Project) -> bool:
    """Somewhere in these files there is a backward pass."""
    return _any_has(tuple(project.files), _BACKWARD)


def reads_gradients(project: Project, except_in: SourceFile | None = None) -> bool:
    """Somewhere in these files the gradients of parameters are looked at or changed."""
    return _any_has(tuple(f for f in project.files if f is not except_in), _GRADIENTS)


def calls_eval(project: Project) -> bool:
    """Somewhere in these files a module is set to evaluation mode."""
    return _any_has(tuple(project.files), _EVAL)


def depends_on_mode(project: Project) -> bool:
    """Somewhere in these files the mode of a module makes a difference."""
    return _any_has(tuple(project.files), _DEPENDS_ON_MODE)


def sets_mode_when_built(project: Project) -> bool:
    """`self.bn.eval()` in a constructor: a set_train() behind it would undo that."""
    return _sets_mode(tuple(project.files))


@lru_cache(maxsize=8)
def _sets_mode(files: tuple[SourceFile, ...]) -> bool:
    for file in files:
        try:
            text = file.read()
            named = any(word in text for word in (".eval()", ".train(", ".training"))
            tree = ast.parse(text) if named else ast.Module([], [])
        except (ReadProblem, SyntaxError, ValueError, RecursionError):
            continue
        for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
            if function.name == "__init__" and any(
                isinstance(n, ast.Attribute) and n.attr in ("eval", "train", "training")
                for n in ast.walk(function)
            ):
                return True
    return False


@lru_cache(maxsize=8)
def _any_has(files: tuple[SourceFile, ...], sign: re.Pattern[str]) -> bool:
    for file in files:
        try:
            if sign.search(file.read()):
                return True
        except ReadProblem:
            continue
    return False
