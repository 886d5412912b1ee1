"""What pieces ask of a program beside names, in texts of several words: `uses("binary files")`.

Each is a question about all of the ported program, and holds where the answer is not known: a
program with files that are not seen here has every one of them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection
from typing import NamedTuple

from migrate.emit.lean.callers import Callers
from migrate.emit.lean.compiled_code import (
    compiled_code,
    draws,
    reads_changing_globals,
    words_of,
)
from migrate.emit.lean.data_facts import DATA_FACTS
from migrate.emit.lean.layer_facts import LAYER_FACTS
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import nodes_of, parents_of
from migrate.syntax.import_planner import HELPER_MODULE

# Modules that define no networks; importlib may import any.
_WITHOUT_NETWORKS = (sys.stdlib_module_names - {"importlib", "runpy"}) | frozenset(
    [
        "mindspore",
        "numpy",
        "PIL",
        "tqdm",
        "yaml",
        "matplotlib",
        "cv2",
        "pandas",
        "scipy",
        "sklearn",
        "tensorboardX",
        "braceexpand",
        "einops",
        "fsspec",
        "ftfy",
        "h5py",
        "huggingface_hub",
        "imageio",
        "loguru",
        "packaging",
        "psutil",
        "rawpy",
        "regex",
        "requests",
        "rich",
        "safetensors",
        "skimage",
        "tensorboard",
        "torch",
        "torchvision",
        "typing_extensions",
        "wandb",
        "ms_migrate_helpers",
        "ms_migrate_runtime",
    ]
)
_WIDE = frozenset({"double", "DoubleTensor", "set_default_dtype", "set_dtype", "cast_module"})
_LIBRARIES = ("mindspore", "ops", "np", "numpy")
_OPTIMIZERS = frozenset(
    "SGD Adam AdamW RMSprop RMSProp Adagrad Adadelta Adamax ASGD Rprop NAdam RAdam Momentum".split()  # noqa: SIM905
)
_AT_PARAMETERS = frozenset(
    """
    grad backward zero_grad unscale_ clip_grad_norm_ clip_grad_value_ record start_recording
    ParameterGradients Optimizer LBFGS closure
    """.split()  # noqa: SIM905
)
_OPENED = frozenset({"BytesIO", "fdopen", "TemporaryFile", "NamedTemporaryFile", "buffer"})


class Program(NamedTuple):
    """A ported program as its helper module is written."""

    said: Callers  # by its files
    wanted: Collection[str]  # pieces that it names

    def words(self) -> set[str]:
        return {*self.said.words, *self.said.keywords, *self.said.defined}


# Questions to the source: flow/reached_parameters, flow/dataset_sums.
UNSEEN = "modules that are not seen"
MISSING = "weights without gradients"
SUMS = "sums of datasets"


def facts(
    said: Callers,
    wanted: Collection[str],
    modules: Collection[str],
    excluded: Collection[str] = (),
) -> set[str]:
    """The texts that hold; `modules` are those that the files can be imported as. What the source
    of the program excludes does not.
    """
    asked_of_source = {MISSING, SUMS} - set(excluded)
    if said.imports - _WITHOUT_NETWORKS - set(modules):
        return {*_FACTS, UNSEEN, SUMS, *asked_of_source}
    program = Program(said, wanted)
    return {text for text, holds in _FACTS.items() if holds(program)} | asked_of_source


def _settings_change(program: Program) -> bool:
    return _hooks(program) or "watched_settings" in program.wanted


def _draws(program: Program) -> bool:
    trees = program.said.trees
    return draws(trees, compiled_code(trees))


def _globals_change(program: Program) -> bool:
    """Of those that layers read; what a step reads itself is looked at when it is run."""
    trees = program.said.trees
    return reads_changing_globals(trees, compiled_code(trees, steps=False))


def _several_steps(program: Program) -> bool:
    return len(program.said.calls.get("value_and_grad", ())) > 1


def _late_weights(program: Program) -> bool:
    """`helpers.value_and_grad(step, None, lambda: optimizer.parameters)`"""
    calls = program.said.calls.get("value_and_grad", ())
    given = [[*call.args[2:3], *(k.value for k in call.keywords)] for call in calls]
    plain = (ast.Attribute, ast.List, ast.Constant)
    return any(not isinstance(one, plain) for weights in given for one in weights)


def _binary_files(program: Program) -> bool:
    """Whether there are files that a checkpoint can be written to, or read from, while open."""
    said = program.said
    if not _OPENED.isdisjoint(program.words()):
        return True
    return any(
        _opens(call.func) and not (_is_text(call) or _is_left_alone(call, tree))
        for tree in said.trees
        for call in nodes_of(tree, ast.Call)
    )


def _opens(called: ast.expr) -> bool:
    """`open(...)`, `path.open(...)`, but not `Image.open(...)`"""
    owner = called.value if isinstance(called, ast.Attribute) else called
    return last_name(called) == "open" and last_name(owner) not in ("Image", "PIL", "webbrowser")


def _is_text(call: ast.Call) -> bool:
    """`open(path)`, `open(path, "a")`, `path.open("w")`"""
    place = 0 if isinstance(call.func, ast.Attribute) else 1
    given = call.args[place : place + 1] + [k.value for k in call.keywords if k.arg == "mode"]
    if any(isinstance(one, ast.Starred) for one in call.args):
        return False
    return all(isinstance(one, ast.Constant) and "b" not in str(one.value) for one in given)


def _is_left_alone(call: ast.Call, tree: ast.Module) -> bool:
    """`with gzip.open(path) as stream:` whose body asks the file itself or gives it to a library:
    `pickle.load(stream)`
    """
    parents = parents_of(tree)
    item = parents.get(call)
    name = item.optional_vars if isinstance(item, ast.withitem) else None
    if not isinstance(name, ast.Name):
        return False
    libraries = {
        one.asname or one.name.partition(".")[0]
        for node in nodes_of(tree, ast.Import)
        for one in node.names
        if one.name.partition(".")[0] in _WITHOUT_NETWORKS - {HELPER_MODULE}
    }
    for read in nodes_of(tree, ast.Name):
        if read.id == name.id and is_read(read):
            user = parents.get(read)
            if isinstance(user, ast.Attribute):
                continue
            called = user.func if isinstance(user, ast.Call) else None
            owner = called.value if isinstance(called, ast.Attribute) else None
            if owner is None or next(words_of(owner), "") not in libraries:
                return False
    return True


def _wide(program: Program) -> bool:
    """Parameters in double precision. An array of numpy's may be in it without a word."""
    words = {*program.words(), *program.wanted}
    trees = program.said.trees
    made = any(_gives_parameters(call) for tree in trees for call in nodes_of(tree, ast.Call))
    if not _WIDE.isdisjoint(words) or (made and "numpy" in program.said.imports):
        return True
    return any(_makes_wide(node, parents_of(tree)) for tree in trees for node in _dtypes(tree))


def _gives_parameters(call: ast.Call) -> bool:
    """`Parameter(x)`, and calls that are given the class"""
    asked = isinstance(call.func, ast.Name) and call.func.id in ("isinstance", "issubclass")
    named = [call.func, *(() if asked else (*call.args, *(k.value for k in call.keywords)))]
    return any(last_name(one).endswith("Parameter") for one in named)


def _dtypes(tree: ast.Module) -> list[ast.AST]:
    """`mindspore.float64`, "float64", and `getattr(mindspore, name)`"""
    named = [node for node in nodes_of(tree, ast.Attribute) if node.attr == "float64"]
    named += [node for node in nodes_of(tree, ast.Name) if node.id == "float64"]
    named += [node for node in nodes_of(tree, ast.Constant) if node.value == "float64"]
    return named + [
        call
        for call in nodes_of(tree, ast.Call)
        if isinstance(call.func, ast.Name)
        and call.func.id == "getattr"
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id in _LIBRARIES
        and not isinstance(call.args[1], ast.Constant)
    ]


def _makes_wide(dtype: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Other than as the dtype of a plain tensor or array: `ops.zeros(3, dtype=mindspore.float64)`,
    `x.astype(np.float64)`
    """
    call = parents.get(dtype)
    call = parents.get(call) if isinstance(call, ast.keyword) else call
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return True
    owner = call.func.value
    library = isinstance(owner, ast.Name) and owner.id in _LIBRARIES
    return not (library or call.func.attr == "astype") or call.func.attr == "Parameter"


def _tuples(program: Program) -> bool:
    """Tuples of a class of their own."""
    if any(name in program.wanted for name in ("PackedSequence", "pack_padded_sequence")):
        return True
    if any("pack" in name.lower() for name in program.wanted):
        return True
    bases = [b for t in program.said.trees for c in nodes_of(t, ast.ClassDef) for b in c.bases]
    return any(isinstance(base, ast.Name) and base.id == "tuple" for base in bases)


def _keys_are_read(program: Program) -> bool:
    """Whether a call of load_state_dict stands for its result, too."""
    said = program.said
    if "load_state_dict" in said.values:
        return True
    calls = set(said.calls.get("load_state_dict", ()))
    for tree in said.trees:
        statements = {node.value for node in nodes_of(tree, ast.Expr)}
        calls -= statements
    return bool(calls)


def _own_state(program: Program) -> bool:
    given = {*program.said.defined, *program.said.stored}
    return not given.isdisjoint(("state_dict", "load_state_dict"))


def _hooks(program: Program) -> bool:
    return program.said.is_open or any("hook" in word for word in program.said.words)


def _asked(holds: Callable[[Callers, set[str]], bool]) -> Callable[[Program], bool]:
    return lambda program: holds(program.said, {*program.words(), *program.wanted})


def _if_not_looked_up(holds: Callable[[Callers, set[str]], bool]) -> Callable[[Program], bool]:
    """Of layers and schedules: a name that is looked up may be any of them."""
    asked = _asked(holds)
    return lambda program: _looks_up_layers(program) or asked(program)


def _looks_up_layers(program: Program) -> bool:
    """`getattr(nn, name)` may be any layer, and `getattr(optim, name)` any optimizer."""
    calls = [call for tree in program.said.trees for call in nodes_of(tree, ast.Call)]
    return program.said.is_open or any(
        last_name(call.func) == "getattr"
        and not all(isinstance(one, ast.Constant) for one in call.args[1:2])
        for call in calls
    )


def _largest_moments(program: Program) -> bool:
    """Whether an optimizer may be made with amsgrad=True, in a dictionary of settings, too."""
    words = program.words()
    if "amsgrad" in words or _looks_up_layers(program):
        return True
    for tree in program.said.trees:
        for call in nodes_of(tree, ast.Call):
            if any(keyword.arg is None for keyword in call.keywords):
                return True
        for node in nodes_of(tree, ast.Dict):
            keys = [getattr(key, "value", None) for key in node.keys]
            if "params" in keys and not all(isinstance(key, ast.Constant) for key in node.keys):
                return True
    return False


def _optimizers_of_mindspore(program: Program) -> bool:
    """`optim.SGD` and `nn.SGD`; ports use pieces in their places."""
    owners = ("optim", "nn")
    return _looks_up_layers(program) or any(
        last_name(node.value) in owners and node.attr in _OPTIMIZERS
        for tree in program.said.trees
        for node in nodes_of(tree, ast.Attribute)
    )


def _own_optimizers(program: Program) -> bool:
    return "Optimizer" in program.wanted


def _averaging_is_switched(program: Program) -> bool:
    """`with net.no_sync():`, `net.require_backward_grad_sync = step % 2 == 0`"""
    named = {*program.words(), *program.said.stored}
    return not named.isdisjoint(("no_sync", "require_backward_grad_sync"))


def _gradients_at_parameters(program: Program) -> bool:
    """`p.grad`, `loss.backward()` of a recorded pass, and what clips where gradients lie."""
    named = {*program.words(), *program.said.stored, *program.wanted}
    return not named.isdisjoint(_AT_PARAMETERS)


def last_name(node: ast.expr) -> str:
    """`Parameter` of `mindspore.Parameter`"""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _decorates(program: Program) -> bool:
    """functools.wraps marks what it wraps, and so do libraries of decorators."""
    return not program.words().isdisjoint({"wraps", "update_wrapper", "wrapt", "decorator"})


_FACTS: dict[str, Callable[[Program], bool]] = {
    "settings that change": _settings_change,
    "values that change by themselves": _draws,
    "variables of modules that change": _globals_change,
    "several training steps": _several_steps,
    "weights that are listed late": _late_weights,
    "binary files": _binary_files,
    "double precision": _wide,
    "classes of tuples": _tuples,
    "keys that load_state_dict returns": _keys_are_read,
    "state_dict methods": _own_state,
    "hooks of layers": _hooks,
    "decorators": _decorates,
    "largest moments": _largest_moments,
    "optimizers of MindSpore's": _optimizers_of_mindspore,
    "optimizers of the program's own": _own_optimizers,
    "gradients at parameters": _gradients_at_parameters,
    "averaging that is switched off": _averaging_is_switched,
    **{text: _asked(holds) for text, holds in DATA_FACTS.items()},
    **{text: _if_not_looked_up(holds) for text, holds in LAYER_FACTS.items()},
    UNSEEN: lambda program: False,
}
