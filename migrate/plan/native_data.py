"""Which loaders `port --data native` writes as pipelines of mindspore.dataset: those whose dataset
and transforms are known, and used for nothing that a pipeline cannot give.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from migrate.flow.events import Definition
from migrate.pipeline.context import Context
from migrate.plan.bound_arguments import bound_arguments, is_default, literal_of
from migrate.plan.native_transforms import Steps, steps_of
from migrate.syntax.access import is_store, name_of
from migrate.syntax.ast_index import nodes_of, parents_of
from migrate.table.native_data import NativeDataset, native_data

LOADER = "torch.utils.data.DataLoader"
_SAMPLERS = ("RandomSampler", "SequentialSampler", "DistributedSampler")
# Arguments of a loader that a pipeline has no stage for, with the values that ask for nothing.
_NO_STAGE = ("batch_sampler", "collate_fn", "worker_init_fn", "timeout", "multiprocessing_context")
_SIMPLE = (ast.Constant, ast.Name, ast.Attribute)  # may be written twice
# Parts of these are computed later, several times or not at all.
_LATER = (
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Lambda,
    ast.IfExp,
    ast.BoolOp,
)
# What may be asked of a dataset: neither samples nor the lists that programs cut down.
_ASKED = ("classes", "class_to_idx", "root", "train")


class Stays(Exception):
    """No pipeline is written, for this reason; `known`: none can give what is asked for."""

    def __init__(self, reason: str, *, known: bool = False) -> None:
        super().__init__(reason)
        self.known = known


@dataclass(frozen=True, slots=True)
class NativeLoader:
    """One call of DataLoader that becomes a pipeline."""

    api: str  # of its dataset
    dataset: NativeDataset
    arguments: dict[str, ast.expr]
    inline: bool = False  # the dataset is made in the call itself


@dataclass(frozen=True, slots=True)
class Note:
    """One line for the summary."""

    line: int
    text: str


@dataclass(slots=True)
class NativeData:
    """The pipelines of a file."""

    loaders: dict[ast.AST, NativeLoader] = field(default_factory=dict)
    steps: dict[ast.AST, Steps] = field(default_factory=dict)  # calls of Compose, ToTensor
    at_run_time: set[ast.AST] = field(default_factory=set)  # loaders that decide by themselves
    notes: list[Note] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Found:
    """A loader before it is known whether all others allow it."""

    call: ast.Call
    loader: NativeLoader
    made: tuple[ast.Call, ...]  # its dataset, on every way to it that is known
    transforms: tuple[Steps, ...]


def plan_native_data(context: Context, *, close: bool) -> NativeData:
    """The pipelines of a file; `close`: also with operations whose pixels differ."""
    return _Planner(context, close).plan()


class _Planner:
    def __init__(self, context: Context, close: bool) -> None:
        self._context, self._close = context, close
        self._parents = parents_of(context.tree)

    def plan(self) -> NativeData:
        result = NativeData()
        found = list(self._candidates(result))
        while True:
            kept = [one for one in found if self._allowed(one, found, result)]
            if len(kept) == len(found):
                break
            found = kept
        for one in found:
            result.loaders[one.call] = one.loader
            result.steps |= {steps.call: steps for steps in one.transforms}
            result.notes.append(Note(one.call.lineno, _described(one)))
        result.notes.sort(key=lambda note: note.line)
        return result

    def _candidates(self, result: NativeData) -> Iterator[_Found]:
        for usage in self._context.resolution.usages:
            if usage.form == "call" and self._api(usage.api) == LOADER and usage.call is not None:
                try:
                    yield self._candidate(usage.call)
                except Stays as reason:
                    _stay(usage.call, reason, result)

    def _candidate(self, call: ast.Call) -> _Found:
        arguments = bound_arguments(call, LOADER, self._context.table)
        if arguments is None or "dataset" not in arguments:
            raise Stays("how DataLoader is called is only known at run time")
        for name in _NO_STAGE:
            if not is_default(arguments.get(name)):
                raise Stays(f"{name} is given", known=True)
        if literal_of(arguments.get("batch_size", ast.Constant(1))) is None:
            raise Stays("batch_size is None", known=True)
        given = arguments["dataset"]
        if not isinstance(arguments.get("num_workers", ast.Constant(0)), _SIMPLE):
            raise Stays("num_workers is computed in the call")
        if isinstance(given, ast.Call) and not self._may_stand_before(call):
            raise Stays("the dataset is made inside of a larger expression")
        made = self._makers(given)
        rows, _ = native_data()
        apis = {self._called(one) for one in made}
        if len(apis) != 1:
            raise self._no_image_dataset(given)
        api = apis.pop()
        transforms = tuple(self._transform(one) for one in made)
        loader = NativeLoader(api, rows[api], arguments, isinstance(given, ast.Call))
        return _Found(call, loader, made, transforms)

    def _may_stand_before(self, node: ast.AST) -> bool:
        """What the call computes may as well be computed on a line in front of the statement."""
        while not isinstance(node, ast.stmt):
            if isinstance(node, _LATER):
                return False
            node = self._parents[node]
        return isinstance(node, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr)

    def _no_image_dataset(self, given: ast.expr) -> Stays:
        values = [given] if isinstance(given, ast.Call) else self._values(given)
        names = {self._called(value) if value is not None else "" for value in values}
        if values and all(name and name not in _rows() for name in names):
            return Stays(f"no pipeline reads {' or '.join(map(_short, sorted(names)))}", known=True)
        return Stays(f"what `{ast.unparse(given)}` is, is not known here")

    def _makers(self, given: ast.expr) -> tuple[ast.Call, ...]:
        """The calls of known datasets that made it; none where something else may have, too."""
        rows, _ = native_data()
        values = [given] if isinstance(given, ast.Call) else self._values(given)
        made = tuple(v for v in values if isinstance(v, ast.Call) and self._called(v) in rows)
        return made if len(made) == len(values) else ()

    def _definitions(self, name: ast.expr) -> Sequence[Definition]:
        """Where a name may have got its value: in the function, or once in the module."""
        if not isinstance(name, ast.Name):
            return ()
        flow = self._context.flow
        function = flow.around(name)
        found = function.defuse.reaching(name) if function is not None else ()
        if not found:
            found = flow.function(self._context.tree).defuse.definitions(name.id)
            return found if len(found) == 1 else ()
        return found

    def _transform(self, made: ast.Call) -> Steps:
        """The steps of a dataset's transform."""
        api = self._called(made)
        arguments = bound_arguments(made, api, self._context.table)
        if arguments is None:
            raise Stays(f"how {_short(api)} is called is only known at run time")
        for name in ("target_transform", "loader", "is_valid_file", "allow_empty"):
            if not is_default(arguments.get(name)):
                raise Stays(f"{name} is given to {_short(api)}")
        given = arguments.get("transform")
        if given is None:
            raise Stays(f"{_short(api)} has no transform")
        values = [given] if isinstance(given, ast.Call) else self._values(given)
        if len(values) != 1 or not isinstance(values[0], ast.Call):
            raise Stays(f"what `{ast.unparse(given)}` is, is not known here")
        rows, _ = native_data()
        steps = steps_of(values[0], rows[api].rows, self._called, self._values, close=self._close)
        if isinstance(steps, str):
            raise Stays(steps)
        self._check_reads(given, {made}, "the transform")
        return steps

    def _values(self, name: ast.expr) -> list[ast.expr | None]:
        return [one.value for one in self._definitions(name)]

    # Whether all uses allow it ----------------------------------------------------------------

    def _allowed(self, one: _Found, all_found: list[_Found], result: NativeData) -> bool:
        try:
            self._check(one, all_found)
        except Stays as reason:
            _stay(one.call, reason, result)
            return False
        return True

    def _check(self, one: _Found, all_found: list[_Found]) -> None:
        loaders = {found.call for found in all_found}
        datasets = {made for found in all_found for made in found.made}
        self._check_reads(one.loader.arguments["dataset"], loaders, "the dataset")
        for steps in one.transforms:
            self._check_transform(steps, datasets)
        for usage in self._context.resolution.usages:
            if self._api(usage.api) == f"{LOADER}.dataset" and not self._only_asks(usage.node):
                raise Stays(f"samples are taken from a loader's dataset in line {usage.line}")

    def _check_transform(self, steps: Steps, datasets: set[ast.Call]) -> None:
        parent = self._parents.get(steps.call)
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            for name in self._reads(parent.targets[0]):
                if self._holder(name) not in datasets:
                    raise Stays(f"its transform is also used in line {name.lineno}")
        elif self._holder(steps.call) not in datasets:
            raise Stays("its transform is used in another place, too")

    def _check_reads(self, given: ast.expr, holders: set[ast.Call], what: str) -> None:
        """Every read of the name is a holder's argument, or asks for what needs no sample."""
        if not isinstance(given, ast.Name):
            return
        for name in self._reads(given):
            holder = self._holder(name)
            if holder in holders or self._only_asks(name) or self._orders(holder):
                continue
            if what == "the transform" and holder is not None and self._called(holder) in _rows():
                continue
            raise Stays(f"{what} is also used in line {name.lineno}")

    def _reads(self, name: ast.Name) -> Iterator[ast.Name]:
        """The reads of a variable in the file, and those that may be of it."""
        owner = self._owner(name)
        for node in nodes_of(self._context.tree, ast.Name):
            if node.id == name.id and not is_store(node):
                other = self._owner(node)
                if other is owner or other is None or owner is None:
                    yield node

    def _owner(self, name: ast.Name) -> ast.AST | None:
        """The scope whose variable a name is; None where that is not clear."""
        function = self._context.flow.around(name)
        shared = nodes_of(self._context.tree, ast.Global, ast.Nonlocal)
        if function is None or any(name.id in one.names for one in shared):
            return None
        return function.cfg.scope if function.defuse.definitions(name.id) else None

    def _holder(self, node: ast.AST) -> ast.Call | None:
        """The call that has it as an argument."""
        parent = self._parents.get(node)
        if isinstance(parent, ast.keyword):
            parent = self._parents.get(parent)
        return parent if isinstance(parent, ast.Call) and parent.func is not node else None

    def _only_asks(self, node: ast.AST) -> bool:
        """`len(dataset)`, `dataset.classes`."""
        parent, holder = self._parents.get(node), self._holder(node)
        if isinstance(parent, ast.Attribute):
            return parent.attr in _ASKED and not is_store(parent)
        return holder is not None and name_of(holder.func) == "len"

    def _orders(self, holder: ast.Call | None) -> bool:
        api = self._called(holder) if holder is not None else ""
        return api.startswith("torch.utils.data.") and api.rpartition(".")[2] in _SAMPLERS

    def _called(self, call: ast.expr) -> str:
        usage = self._context.usage(call.func) if isinstance(call, ast.Call) else None
        return self._api(usage.api) if usage is not None and usage.form == "call" else ""

    def _api(self, name: str) -> str:
        return self._context.table.canonical(name) or name


def _stay(call: ast.Call, reason: Stays, result: NativeData) -> None:
    where = "exact path" if reason.known else "decided at run time"
    result.notes.append(Note(call.lineno, f"{where}: {reason}"))
    if not reason.known:
        result.at_run_time.add(call)


def _rows() -> dict[str, NativeDataset]:
    return native_data()[0]


def _short(api: str) -> str:
    return api.rpartition(".")[2]


def _described(one: _Found) -> str:
    """What was written, and what it costs."""
    text = f"a pipeline of mindspore.dataset reads {_short(one.loader.api)}"
    remarks = dict.fromkeys(steps.remark for steps in one.transforms if steps.remark)
    return "; ".join([text, *remarks])
