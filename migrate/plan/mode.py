"""Where a model must be switched to training mode: a Cell starts in evaluation mode, a torch
module in training mode.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from migrate.pipeline.context import Context, is_module_value
from migrate.plan.names import binds, statements_below
from migrate.project import Project, ReadProblem, SourceFile
from migrate.resolve.values import Instance, ProjectClass, ProjectFunction, options_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEPTH = 4  # callers of callers that are followed
_LOOKING = ("isinstance", "type", "print", "id", "len", "getattr", "hasattr", "setattr", "repr")
_ADDING = ("add_module", "append", "insert", "extend", "register_module")
_SAME_MODEL = ("to", "cuda", "cpu", "float", "half", "double", "apply", "requires_grad_")


@dataclass(slots=True)
class Switches:
    """Models to switch to training mode, as they are written."""

    after: dict[int, list[str]] = field(default_factory=dict)  # behind the statement that builds it
    in_front: list[str] = field(default_factory=list)  # of the step itself
    unclear: list[str] = field(default_factory=list)  # neither the building nor the mode is in view
    of_home: dict[int, list[str]] = field(default_factory=dict)  # function -> its `in_front`
    all_cells: bool = False  # every Cell of the program starts in training mode

    def add(self, statement: ast.stmt, model: str) -> None:
        """Switch the model behind this statement, once."""
        known = self.after.setdefault(id(statement), [])
        if model not in known:
            known.append(model)


def plan_modes(
    tree: ast.Module, homes: Sequence[ast.Module | Function], training: set[int], context: Context
) -> Switches:
    """What brings the models that a file runs into torch's mode: a call behind each construction,
    or, where not every construction is in view, Cells that start in training mode.
    """
    switches = Switches()
    depends = depends_on_mode(context.modules.project)
    inside = {id(n) for cls in context.module_classes.values() for n in ast.walk(cls.node)}
    for home in homes:
        if id(home) in inside or not (depends or id(home) in training):
            continue
        switches.in_front = []
        find_switches(tree, home, context, switches, id(home) in training)
        if depends:
            switches.unclear += _without_place(home, context)
        if id(home) in training:
            switches.of_home[id(home)] = switches.in_front
        else:
            switches.unclear += switches.in_front
    if depends and (switches.unclear or sets_mode_when_built(context.modules.project)):
        return Switches(all_cells=any(_runs_models(home, inside, context) for home in homes))
    return switches


def _runs_models(home: ast.Module | Function, inside: set[int], context: Context) -> bool:
    if id(home) in inside:
        return False
    built = [
        call
        for _, statement in statements_below(home.body)
        if isinstance(statement, ast.Assign | ast.Expr)
        for call in ast.walk(statement)
        if isinstance(call, ast.Call) and is_module_value(context.type(call))
    ]
    called = models_called(own_calls(home.body), context)
    return bool(built or called or _without_place(home, context))


def _without_place(home: ast.Module | Function, context: Context) -> list[str]:
    """Models that run and have no name of their own: `nets[0](x)`, `Net()(x)`, `m(x) for m in`."""
    short_lived = _of_comprehensions(home)
    found = []
    for call in own_calls(home.body):
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr == "forward":
            function = function.value
        if not is_module_value(context.type(function)) or not _is_model(function, context):
            continue
        name = ast.unparse(function)
        if not _is_path(function) or name.partition(".")[0] in short_lived:
            found.append(name)
    return [*found, *_put_into_others(home, context)]


def _put_into_others(home: ast.Module | Function, context: Context) -> list[str]:
    """Layers that a built network is given: `net[1] = nn.Dropout()`, `net.add_module("bn", bn)`."""
    found = []
    for _, statement in statements_below(home.body):
        values: list[ast.expr] = []
        call = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Subscript | ast.Attribute)
            and is_module_value(context.type(target.value))
            for target in statement.targets
        ):
            values = [statement.value]
        elif isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            added = call.func.attr in (
                "add_module",
                "append",
                "insert",
                "extend",
                "register_module",
            )
            values = call.args if added else []
        found += [
            ast.unparse(value)
            for value in values
            if isinstance(value, ast.Call) and is_module_value(context.type(value))
        ]
    return found


def find_switches(
    tree: ast.Module,
    home: ast.Module | Function,
    context: Context,
    switches: Switches,
    trains: bool,
) -> None:
    """Add what the models that are called in `home` need."""
    short_lived = _of_comprehensions(home)
    for model in models_called(own_calls(home.body), context, handed_on=trains):
        if model.partition(".")[0] in short_lived:
            continue
        _follow(model, home, _first_use(home, model), tree, context, switches, _DEPTH)


def _of_comprehensions(home: ast.Module | Function) -> set[str]:
    """Names that live inside of `[m(x) for m in layers]` alone."""
    parts = [n for s in home.body for n in ast.walk(s) if isinstance(n, ast.comprehension)]
    own = {n.id for p in parts for n in ast.walk(p.target) if isinstance(n, ast.Name)}
    inside = {id(n) for p in parts for n in ast.walk(p.target)}
    elsewhere = {
        n.id
        for s in home.body
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in inside
    }
    return own - elsewhere - set(_parameters_of(home))


def _parameters_of(home: ast.Module | Function) -> list[str]:
    return [] if isinstance(home, ast.Module) else _parameters(home)


def _follow(
    model: str,
    home: ast.Module | Function,
    line: int,
    tree: ast.Module,
    context: Context,
    switches: Switches,
    depth: int,
) -> None:
    """Go from a use of a model at `line` back to where it was built or its mode was set."""
    if _mode_is_set(home, model, line):
        return
    calls = _callers(home, tree) if depth else []
    statements = _built(home, model, tree)
    if statements:
        # A method's or a global model: perhaps every caller sets its mode first.
        if not calls or not all(_mode_is_set(caller, model, c.lineno) for caller, c in calls):
            for statement in statements:
                _follow_building(model, statement, tree, context, switches, depth)
        return
    if isinstance(home, ast.FunctionDef) and _follow_callers(
        model, home, calls, None, tree, context, switches, depth
    ):
        return
    root = model.partition(".")[0]
    known = root in _parameters_of(home) or not any(root in binds(s) for s in home.body)
    if known and not _mode_elsewhere(context.modules.project, "eval"):
        switches.in_front += [model] if model not in switches.in_front else []
    else:
        switches.unclear.append(model)


def _follow_building(
    model: str,
    statement: ast.stmt,
    tree: ast.Module,
    context: Context,
    switches: Switches,
    depth: int,
) -> None:
    """The model is built by this statement, or handed on by it: `self.model = model`."""
    value = _value_given(statement, model)
    function = _function_around(statement, tree)
    home = function or tree
    line = statement.lineno
    if not isinstance(value, ast.Name | ast.Attribute):
        if not _is_construction(value):
            switches.unclear.append(model)
        elif not _arranges_mode(statement, context):
            switches.add(statement, model)
    elif depth and isinstance(value, ast.Name) and function and value.id in _parameters(function):
        if not _mode_is_set(function, value.id, line):
            handed = (statement, model)
            calls = _callers(function, tree)
            _follow_callers(value.id, function, calls, handed, tree, context, switches, depth)
    elif depth and _is_path(value) and ast.unparse(value) != model:
        _follow(ast.unparse(value), home, line, tree, context, switches, depth - 1)


def _is_construction(value: ast.expr | None) -> bool:
    """`Net()`, `Net() if deep else Other()`."""
    if isinstance(value, ast.IfExp):
        return _is_construction(value.body) and _is_construction(value.orelse)
    return isinstance(value, ast.Call)


def _follow_callers(
    model: str,
    function: ast.FunctionDef,
    calls: list[tuple[ast.Module | Function, ast.Call]],
    handed: tuple[ast.stmt, str] | None,
    tree: ast.Module,
    context: Context,
    switches: Switches,
    depth: int,
) -> bool:
    """Go to those who call the function with a model; False when nobody in view does."""
    followed = False
    for caller, call in calls:
        given = _argument(call, function, model)
        if given is None:
            continue
        followed = True
        if _is_path(given):
            name, at = ast.unparse(given), call.lineno
            _follow(name, caller, at, tree, context, switches, depth - 1)
        elif not _arranges_mode(ast.Expr(given), context):  # built in the very call
            if handed is not None:
                switches.add(*handed)
            else:
                switches.unclear.append(ast.unparse(given))
    return followed


def models_called(calls: list[ast.Call], context: Context, *, handed_on: bool = True) -> list[str]:
    """Modules that are called or handed on, losses left out."""
    found: dict[str, None] = {}
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id in _LOOKING:
            continue
        given = call.args if handed_on and context.usage(call.func) is None else []
        called = call.func
        if isinstance(called, ast.Attribute) and called.attr == "forward":
            called = called.value
        for node in (called, *given):
            if _is_path(node) and _is_model(node, context) and ast.unparse(node) != "self":
                found[ast.unparse(node)] = None
        kind = context.type(call.func)
        is_class = any(isinstance(option, ProjectClass) for option in options_of(kind))
        if _is_path(call.func) and _sounds_like_model(call.func) and not is_class:
            found[ast.unparse(call.func)] = None
    return list(found)


def _is_path(node: ast.expr) -> bool:
    """`model`, `self.model`, `self.nets.generator`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_model(node: ast.expr, context: Context) -> bool:
    value = context.type(node)
    if not is_module_value(value):
        return False
    last = ast.unparse(node).rpartition(".")[2].lower()
    names = [
        option.cls if isinstance(option.cls, str) else option.cls.node.name
        for option in options_of(value)
        if isinstance(option, Instance)
    ]
    return not any("Loss" in name for name in names) and not any(
        word in last for word in ("loss", "criterion")
    )


def _sounds_like_model(node: ast.expr) -> bool:
    return ast.unparse(node).rpartition(".")[2].lower() in ("model", "net", "network")


def _first_use(home: ast.Module | Function, model: str) -> int:
    """The line of the first call; of a model that is only handed on, where that is last done."""
    calls = own_calls(home.body)
    called = [call.lineno for call in calls if ast.unparse(call.func) == model]
    handed = [c.lineno for c in calls if any(ast.unparse(a) == model for a in c.args)]
    return min(called, default=max(handed, default=10**9))


def _mode_is_set(home: ast.Module | Function, model: str, line: int) -> bool:
    """`model.train()` or `model.eval()` stands before this line."""
    wanted = {f"{model}.train", f"{model}.eval"}
    return any(
        call.lineno <= line and ast.unparse(call.func) in wanted for call in own_calls(home.body)
    )


def _built(home: ast.Module | Function, model: str, tree: ast.Module) -> list[ast.stmt]:
    """The statements that give the model its value: here, in the module, or in the class."""
    if not model.startswith("self."):
        if isinstance(home, ast.FunctionDef) and model in _parameters(home):
            return []
        for scope in (home, tree):
            found = _assignments([s for _, s in statements_below(scope.body)], model)
            if found:
                return found
        return []
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        if any(node is home for node in owner.body):
            inner = [n for n in owner.body if isinstance(n, ast.FunctionDef)]
            return _assignments([s for f in inner for _, s in statements_below(f.body)], model)
    return []


def _assignments(statements: list[ast.stmt], model: str) -> list[ast.stmt]:
    """All that bind the model, those left out that only go on with it: `model = model.cuda()`."""
    found = []
    for statement in sorted(statements, key=lambda s: s.lineno):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        parts = [
            part
            for target in targets
            for part in (target.elts if isinstance(target, ast.Tuple) else [target])
        ]
        if not any(ast.unparse(part) == model for part in parts):
            continue
        value = _value_given(statement, model)
        nothing = isinstance(value, ast.Constant) and value.value is None
        read = {ast.unparse(n) for n in ast.walk(value or ast.Pass()) if isinstance(n, ast.expr)}
        if not nothing and model not in read:
            found.append(statement)
    return found


def _value_given(statement: ast.stmt, model: str) -> ast.expr | None:
    """What an assignment gives the model, also out of `a.x, a.y = x, y`."""
    value: ast.expr | None = getattr(statement, "value", None)
    for target in getattr(statement, "targets", ()):
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for part, item in zip(target.elts, value.elts, strict=False):
                if ast.unparse(part) == model:
                    return item
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in _SAME_MODEL:
            value = value.func.value
        elif ast.unparse(value.func).endswith("deepcopy") and value.args:
            value = value.args[0]
        else:
            break
    return value


def _function_around(statement: ast.stmt, tree: ast.Module) -> ast.FunctionDef | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            s is statement for _, s in statements_below(node.body)
        ):
            return node
    return None


def _arranges_mode(statement: ast.stmt, context: Context) -> bool:
    """`net = Net().eval()`, or `net = load_teacher()` where that function sets the mode."""
    for node in ast.walk(statement):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("train", "eval"):
            return True
        for option in options_of(context.type(node.func)):
            if isinstance(option, ProjectFunction) and any(
                isinstance(inner, ast.Attribute) and inner.attr in ("train", "eval")
                for inner in ast.walk(option.node)
            ):
                return True
    return False


def _parameters(function: Function) -> list[str]:
    arguments = function.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _callers(
    function: Function | ast.Module, tree: ast.Module
) -> list[tuple[ast.Module | Function, ast.Call]]:
    """The bodies of this file that call the function, by its name."""
    if not isinstance(function, ast.FunctionDef):
        return []
    name = function.name
    if name == "__init__":
        owners = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and function in n.body]
        name = owners[0].name if owners else name
    bodies: list[ast.Module | Function] = [tree]
    bodies += [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [
        (body, call)
        for body in bodies
        for call in own_calls(body.body)
        if ast.unparse(call.func).rpartition(".")[2] == name
    ]


def own_calls(body: list[ast.stmt]) -> list[ast.Call]:
    """The calls of a body, those of inner functions left out."""
    found: dict[int, ast.Call] = {}
    for _, statement in statements_below(body):
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found |= {id(n): n for n in ast.walk(statement) if isinstance(n, ast.Call)}
    return list(found.values())


def _argument(call: ast.Call, function: Function, model: str) -> ast.expr | None:
    names = _parameters(function)
    if names and names[0] in ("self", "cls"):
        names = names[1:]
    if model in names and names.index(model) < len(call.args):
        return call.args[names.index(model)]
    return next((keyword.value for keyword in call.keywords if keyword.arg == model), None)


def _mode_elsewhere(project: Project, name: str) -> bool:
    return _any_has(tuple(project.files), re.compile(rf"\.{name}\("))


# What computes something else in training mode, as far as words tell.
_DEPENDS = re.compile(
    r"dropout|drop_path|batch_?norm|instance_?norm|rrelu|\.training\b|transformer|spectral_norm"
    r"|stochastic_depth|torchvision(\.| import [^\n]*)models|timm|\.train\(|\.eval\(",
    re.IGNORECASE,
)


def depends_on_mode(project: Project) -> bool:
    """Somewhere in these files the mode of a module makes a difference."""
    return _any_has(tuple(project.files), _DEPENDS)


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


@lru_cache(maxsize=32)
def _any_has(files: tuple[SourceFile, ...], words: re.Pattern[str]) -> bool:
    for file in files:
        try:
            if words.search(file.read()):
                return True
        except ReadProblem:
            continue
    return False
