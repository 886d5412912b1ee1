"""`DataLoader(ImageFolder(root, Compose([...])))` as a pipeline of mindspore.dataset, on request
(`port --data native`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property

import libcst as cst

from migrate.pipeline import declare, same
from migrate.plan.bound_arguments import literal_of
from migrate.plan.native_data import NativeData, NativeLoader, plan_native_data
from migrate.plan.native_transforms import Steps
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.nodes import in_quotes
from migrate.syntax.text import code

_VISION = "mindspore.dataset.vision"
_ORDER = ("sampler", "shuffle", "generator")


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "types", "definitions"],
    examples=[
        same("batches = [1, 2]"),
    ],
)
class NativeLoaders(NodePass):
    """Writes the pipelines that the plan of the file names."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)

    @cached_property
    def _plan(self) -> NativeData:
        choice = self.context.data
        if choice == "exact":
            return NativeData()
        plan = plan_native_data(self.context, close=choice == "close")
        self.context.notes += [(note.line, note.text) for note in plan.notes]
        return plan

    def propose_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
        partner = self.partner(original)
        if not isinstance(partner, ast.Call):
            return None
        if partner in self._plan.at_run_time:
            self.context.ported += 1
            return self._decides(updated)
        if partner in self._plan.loaders:
            self.context.ported += 1
            return self._loader(self._plan.loaders[partner], updated)
        steps = self._plan.steps.get(partner)
        if steps is None:
            return None
        self.context.ported += 1
        return self._operations(steps, updated)

    def _operations(self, steps: Steps, updated: cst.Call) -> cst.BaseExpression:
        """`Compose([...])` as a list of operations, the first of which decodes."""
        given = updated.args[0].value if updated.args else None
        if isinstance(given, cst.List):
            listed = given
        else:  # ToTensor alone
            made = cst.parse_expression(f"{self.spelling.name(f'{_VISION}.ToTensor')}()")
            listed = cst.List([cst.Element(made)])
        elements = list(listed.elements)
        if steps.fused:
            elements[0] = elements[0].with_changes(value=self._fused(steps, elements[0].value))
        if steps.first:
            first = cst.Element(
                cst.parse_expression(self.spelling.name(f"{_VISION}.{steps.first}"))
            )
            whitespace = elements[0].comma if len(elements) > 1 else cst.MaybeSentinel.DEFAULT
            elements = [first.with_changes(comma=whitespace), *elements]
        made = listed.with_changes(elements=elements)
        space = updated.whitespace_before_args
        if not isinstance(space, cst.ParenthesizedWhitespace):
            return made
        return cst.ensure_type(made.visit(_MovedLeft(space.last_line.value)), cst.List)

    def _fused(self, steps: Steps, first: cst.BaseExpression) -> cst.BaseExpression:
        assert isinstance(first, cst.Call)
        return first.with_changes(func=cst.parse_expression(self.spelling.name(steps.fused)))

    def _loader(self, loader: NativeLoader, updated: cst.Call) -> cst.BaseExpression:
        """The nodes of the pipeline in their order: read, transform, batch."""
        given = self._given(loader, updated)
        dataset = self._dataset(loader, given["dataset"])
        threads = self._threads(given.get("num_workers"))
        source = self._source(loader, dataset, given, threads)
        cast = self.spelling.name("mindspore.dataset.transforms.TypeCast")
        wide = self.spelling.name("mindspore.int64")
        size = code(given["batch_size"]) if "batch_size" in given else "1"
        dropped = given.get("drop_last")
        remainder = f", drop_remainder={code(dropped)}" if dropped is not None else ""
        workers = given.get("num_workers")
        text = in_quotes(
            f"{self.spelling.name('helpers.PipelineLoader')}(\n"
            f"    {source}\n"
            f"    .map({dataset}.transform, 'image'{threads})\n"
            f"    .map({cast}({wide}), 'label')\n"
            f"    .batch({size}{remainder}),\n"
            + (f"    num_workers={code(workers)},\n" if workers is not None else "")
            + ")",
            self.spelling.quote,
        )
        return cst.parse_expression(text)

    def _decides(self, updated: cst.Call) -> cst.Call:
        """The same call of a loader that looks at its dataset when an epoch begins."""
        name = cst.parse_expression(self.spelling.name("helpers.NativeDataLoader"))
        if self.context.data != "close":
            return updated.with_changes(func=name)
        last = updated.args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        close = cst.parse_expression("f(close=True)")
        assert isinstance(close, cst.Call)
        return updated.with_changes(func=name, args=[*updated.args[:-1], last, *close.args])

    def _given(self, loader: NativeLoader, updated: cst.Call) -> dict[str, cst.BaseExpression]:
        """The rewritten arguments by torch's names, in the order in which they are bound."""
        names = list(loader.arguments)  # positional ones first, then keywords in their order
        return dict(zip(names, (argument.value for argument in updated.args), strict=True))

    def _dataset(self, loader: NativeLoader, given: cst.BaseExpression) -> str:
        """A name for the dataset, on a line of its own where the call makes it."""
        if not loader.inline:
            return code(given)
        name = "dataset"
        while name in self.spelling.taken:
            name += "_"
        self._effects.lines.append((name, given))
        return name

    def _threads(self, workers: cst.BaseExpression | None) -> str:
        """MindSpore's own number of threads where the program reads in its main process."""
        if workers is None or code(workers) == "0":
            return ""
        name = self.spelling.name("helpers.pipeline_threads")
        return f", num_parallel_workers={name}({code(workers)})"

    def _source(
        self,
        loader: NativeLoader,
        dataset: str,
        given: Mapping[str, cst.BaseExpression],
        threads: str,
    ) -> str:
        chosen = {name: given[name] for name in _ORDER if name in given}
        chosen = {
            n: v for n, v in chosen.items() if literal_of(ast.parse(code(v), mode="eval").body)
        }
        order = "".join(f", {name}={code(value)}" for name, value in chosen.items())
        made = f"{self.spelling.name('helpers.EpochOrder')}({dataset}{order})"
        text = loader.dataset.source
        target = text.partition("(")[0]
        text = text.replace(target, self.spelling.name(target), 1)
        reads = threads if loader.dataset.rows == "files" else ""
        return text.replace("{dataset}", dataset).replace("{options}", f"sampler={made}{reads}")


class _MovedLeft(cst.CSTTransformer):
    """Lines of a list that was the argument of a call, on a line of its own."""

    def __init__(self, indent: str) -> None:
        super().__init__()
        self._indent = indent

    def leave_ParenthesizedWhitespace(
        self,
        original_node: cst.ParenthesizedWhitespace,
        updated_node: cst.ParenthesizedWhitespace,
    ) -> cst.ParenthesizedWhitespace:
        line = updated_node.last_line
        moved = line.with_changes(value=line.value.removeprefix(self._indent))
        return updated_node.with_changes(last_line=moved)
