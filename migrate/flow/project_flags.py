"""What a program does elsewhere: freezes parameters, cycles momentums, reads gradients."""

from __future__ import annotations

import ast
from functools import lru_cache

from migrate.flow.file_signs import FileFacts, Sign, facts_of, signs_in
from migrate.flow.inplace_layers import ANY, CLASSES
from migrate.project import Project, SourceFile


def looks_for_nan(project: Project) -> bool:
    """Somewhere in these files values are tested for NaN: kernels must not swallow it."""
    return _any_has(project, Sign.LOOKS_FOR_NAN)


def names_infinity(project: Project) -> bool:
    """`float("-inf")`, `math.inf`, `torch.inf`."""
    return _any_has(project, Sign.NAMES_INFINITY)


def makes_complex(project: Project) -> bool:
    """Fourier transforms, `torch.polar`, `torch.cfloat`."""
    return _any_has(project, Sign.MAKES_COMPLEX)


def undoes_tanh(project: Project) -> bool:
    """`1 - y ** 2`, `torch.atanh(y)`: what is NaN for values above 1."""
    return _any_has(project, Sign.UNDOES_TANH)


def names_doubles(project: Project) -> bool:
    """`torch.float64`, `x.double()`: a tensor of unknown dtype may be one."""
    return _any_has(project, Sign.NAMES_DOUBLES)


def draws_from_numpy(project: Project) -> bool:
    """Somewhere in these files numbers are drawn from numpy's global stream."""
    return _any_has(project, Sign.DRAWS_FROM_NUMPY)


def repeats_numpy(tree: ast.Module, project: Project) -> bool:
    """The file uses numpy's global stream, and the program seeds it: the numbers that are drawn are
    the same in every run, and must be the same in the port.
    """
    own = signs_in(tree) & (Sign.DRAWS_FROM_NUMPY | Sign.SEEDS_NUMPY)
    return bool(own) and draws_from_numpy(project) and _any_has(project, Sign.SEEDS_NUMPY)


def sets_requires_grad(project: Project) -> bool:
    """Somewhere in these files requires_grad is set, not only looked at: torch's optimizers pass
    frozen parameters by, MindSpore's do not.
    """
    return _any_has(project, Sign.SETS_REQUIRES_GRAD)


def makes_optimizers(project: Project) -> bool:
    """Somewhere in these files optimizers are made, or classes of them."""
    return _any_has(project, Sign.NAMES_OPTIMIZERS)


def adds_groups(project: Project) -> bool:
    """Optimizers get parameters after they were made."""
    return _any_has(project, Sign.ADDS_GROUPS)


def thaws(project: Project) -> bool:
    """Parameters may be frozen when the optimizer is made, and trained later."""
    return _any_has(project, Sign.THAWS)


def cycles_momentum(project: Project) -> bool:
    """A schedule moves the momentum too: MindSpore's AdamW would compile anew every step."""
    return _any_has(project, Sign.CYCLES_MOMENTUM)


def formats_values(project: Project) -> bool:
    """Somewhere in these files values are formatted as numbers, in a program that trains."""
    return trains(project) and _any_has(project, Sign.FORMATS_NUMBERS)


def formats_numbers(tree: ast.Module) -> bool:
    """Whether this file formats values as numbers."""
    return bool(signs_in(tree) & Sign.FORMATS_NUMBERS)


def trains(project: Project) -> bool:
    """Somewhere in these files there is a backward pass."""
    return _any_has(project, Sign.CALLS_BACKWARD)


def defines_backward(project: Project) -> bool:
    """Some class of these files has a backward(loss) of its own, as accelerators do."""
    return _any_has(project, Sign.DEFINES_BACKWARD)


def reads_gradients(project: Project, except_in: SourceFile | None = None) -> bool:
    """Somewhere in these files the gradients of parameters are looked at or changed."""
    files = (file for file in project.files if file is not except_in)
    return any(facts_of(file).signs & Sign.READS_GRADIENTS for file in files)


def sets_grad_mode(project: Project) -> bool:
    """Somewhere in these files gradients are switched off."""
    return _any_has(project, Sign.SETS_GRAD_MODE)


def switches_grad_mode(project: Project) -> bool:
    """Somewhere in these files they are switched off until further notice."""
    return _any_has(project, Sign.SWITCHES_GRAD_MODE)


def calls_eval(project: Project) -> bool:
    """Somewhere in these files a module is set to evaluation mode."""
    return _any_has(project, Sign.CALLS_EVAL)


def depends_on_mode(project: Project) -> bool:
    """Somewhere in these files the mode of a module makes a difference."""
    return _any_has(project, Sign.DEPENDS_ON_MODE)


def sets_mode_when_built(project: Project) -> bool:
    """`self.bn.eval()` in a constructor: a set_train() behind it would undo that."""
    return _any_has(project, Sign.SETS_MODE_WHEN_BUILT)


def imported_names(project: Project) -> frozenset[str]:
    """Every name that some file of the project imports from another module."""
    return _together(tuple(project.files)).imported


def builds_in_place(project: Project, cls: str) -> bool:
    """Somewhere in these files a layer of this class is built to change its input."""
    found = _together(tuple(project.files)).in_place
    return cls in found or (ANY in found and cls in CLASSES)


def sets_in_place(project: Project, attribute: str) -> bool:
    """Somewhere in these files an attribute of this name is set to such a layer."""
    return f".{attribute}" in _together(tuple(project.files)).in_place


def builds_any_in_place(project: Project) -> bool:
    """Somewhere in these files some layer is built to change its input."""
    return bool(_together(tuple(project.files)).in_place)


def _any_has(project: Project, sign: Sign) -> bool:
    return bool(_together(tuple(project.files)).signs & sign)


@lru_cache(maxsize=4)
def _together(files: tuple[SourceFile, ...]) -> FileFacts:
    """What holds of some file."""
    signs, imported, in_place = Sign.NOTHING, set[str](), set[str]()
    for file in files:
        facts = facts_of(file)
        signs |= facts.signs
        imported |= facts.imported
        in_place |= facts.in_place
    return FileFacts(signs, frozenset(imported), frozenset(in_place))
