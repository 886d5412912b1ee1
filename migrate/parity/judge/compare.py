"""Compare a torch record with a MindSpore record, stage by stage, in the order in which a step
happens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from migrate.parity.judge.tolerance import Judgement, Tolerance, judge
from migrate.parity.workers import structure
from migrate.parity.workers.record import Array, Step

STAGES = (
    "weights",
    "randomness",
    "inputs",
    "layers",
    "outputs",
    "loss",
    "gradients",
    "updates",
    "buffers",
    "curve",
)
# Which stage a recorded tensor belongs to, by the first word of its key.
_STAGE_OF = {
    "output": "outputs",
    "loss": "loss",
    "gradient": "gradients",
    "input-gradient": "gradients",
    "update": "updates",
    "buffer": "buffers",
    "curve": "curve",
    "final": "curve",
    "final-buffer": "curve",
    "state": "curve",
}
# MindSpore's optimizers compute 1 - beta in float32, which for 0.999 is off by 1.3e-5. The state
# carries that factor; the update does not, since the bias correction divides it out again.
_STATE_FLOOR = 1e-5


@dataclass(frozen=True)
class Row:
    """One thing compared."""

    stage: str
    name: str
    judgement: Judgement

    @property
    def ok(self) -> bool:
        return self.judgement.ok


@dataclass
class Layer:
    """One call of one submodule on both sides."""

    path: str
    other_path: str
    call: int
    called: structure.Place | None
    other_called: structure.Place | None
    torch_inputs: list[str]
    torch_outputs: list[str]
    inputs: list[Judgement]
    outputs: list[Judgement]
    input_slopes: list[Judgement]
    output_slopes: list[Judgement]

    @property
    def name(self) -> str:
        label = self.path or "(the whole model)"
        return f"{label}, call {self.call + 1}" if self.call else label

    @property
    def inputs_agree(self) -> bool:
        return all(judgement.ok for judgement in self.inputs)

    @property
    def outputs_agree(self) -> bool:
        return all(judgement.ok for judgement in self.outputs)

    @property
    def worst(self) -> Judgement:
        return max(
            self.outputs, key=lambda judgement: judgement.ratio, default=Judgement(True, 0.0)
        )


@dataclass
class Comparison:
    """Everything compared between torch and one MindSpore mode."""

    mode: str
    rows: list[Row]
    layers: list[Layer]
    modules: dict[str, structure.ModuleInfo]
    other_modules: dict[str, structure.ModuleInfo]
    matching: dict[str, Any]
    error: dict[str, str] | None
    stopped_in: str
    notes: list[str] = field(default_factory=list)
    # What is known of why it stopped.
    advice: list[str] = field(default_factory=list)
    # Layers that run on one side and have no counterpart on the other: their paths and types.
    only_torch: list[str] = field(default_factory=list)
    only_mindspore: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.error is None and all(row.ok for row in self.rows)

    def failed(self, stage: str) -> list[Row]:
        return [row for row in self.rows if row.stage == stage and not row.ok]

    @property
    def first_stage(self) -> str:
        """The first stage in which something differs; empty if nothing does."""
        return next((stage for stage in STAGES if self.failed(stage)), "")


def compare(torch: Step, other: Step, tolerance: Tolerance) -> Comparison:
    """Compare one MindSpore record with the torch record it was made from."""
    matching = other.start["matching"]
    result = Comparison(
        mode=other.run["mode"],
        rows=[],
        layers=[],
        modules=_modules(torch),
        other_modules=_modules(other),
        matching=matching,
        error=other.run.get("error"),
        stopped_in=other.run["entered"][-1]["path"] if other.run.get("entered") else "",
        notes=[*torch.start["notes"], *torch.run["notes"], *other.run["notes"], *matching["notes"]],
        advice=_advice(torch, other),
    )
    _compare_weights(result)
    _compare_randomness(result, torch, other)
    if result.failed("weights") and not other.tensors.names():
        return result
    judged = _Judge(torch, other, tolerance)
    _compare_layers(result, judged)
    _compare_tensors(result, judged)
    return result


def _advice(torch: Step, other: Step) -> list[str]:
    """Errors whose cause the record shows and whose text does not."""
    return graph_advice(torch) if other.run.get("error") and other.run["mode"] == "graph" else []


def graph_advice(torch: Step) -> list[str]:
    """What keeps a model from being compiled, as far as torch's record tells."""
    outputs = [n.partition(":")[2] for n in torch.tensors.names() if n.startswith("output:")]
    if any(re.search(r"(^|\])\.\w", way) for way in outputs):
        return [
            "The model returns a dataclass or a named tuple, through which a MindSpore graph "
            "passes no gradient: return a tuple or a dict, or check with --mode pynative."
        ]
    return []


class _Judge:
    """Judges pairs of recorded tensors, each pair once."""

    def __init__(self, torch: Step, other: Step, tolerance: Tolerance) -> None:
        self.torch, self.other, self.tolerance = torch, other, tolerance
        self._known: dict[tuple[str, str], Judgement] = {}

    def __call__(self, key: str, other_key: str) -> Judgement:
        if (key, other_key) not in self._known:
            theirs = self.other.tensors.get(other_key)
            floor = self._with_resolution(key, self.torch.run["floors"].get(key))
            # Inside the network an axis of one more or less is a matter of style (a pooling that
            # keeps its axes); at its output it is not.
            # Gradients of activations only point to a culprit; nobody reads their statistics.
            self._known[key, other_key] = judge(
                self.torch.tensors[key],
                theirs,
                floor,
                self.tolerance,
                full=not key.startswith("slope:"),
                same_shape=not key.startswith(("value:", "slope:")),
                least=_STATE_FLOOR if key.startswith("state:") else 0.0,
            )
        return self._known[key, other_key]

    def _with_resolution(self, key: str, floor: list[float] | None) -> list[float] | None:
        """An update is the difference of two float32 parameters: it is known to half a unit in the
        last place of the parameter, however small it is itself.
        """
        word, _, name = key.partition(":")
        weight = self.torch.given.get(f"weight:{name}") if word in ("update", "final") else None
        if floor is None or weight is None or not weight.size:
            return floor
        return [max(pair) for pair in zip(floor, resolution(weight), strict=True)]


def resolution(weight: Array) -> list[float]:
    """Half a unit in the last place of a parameter: as a Euclidean norm, and at its largest."""
    half = 2.0**-24
    flat = weight.reshape(-1).astype(np.float64)
    return [half * float(np.sqrt(flat @ flat)), half * float(np.abs(flat).max())]


def _modules(step: Step) -> dict[str, structure.ModuleInfo]:
    described = [structure.from_json(module) for module in step.start["structure"]]
    return {module.path: module for module in described}


def _compare_weights(result: Comparison) -> None:
    matching = result.matching
    for name in matching["unmatched_torch"]:
        problem = Judgement(False, float("inf"), "has no counterpart in the MindSpore model")
        result.rows.append(Row("weights", f"torch {name}", problem))
    for name in matching["unmatched_mindspore"]:
        problem = Judgement(False, float("inf"), "has no counterpart in the torch model")
        result.rows.append(Row("weights", f"mindspore {name}", problem))
    for pair in matching["pairs"]:
        ours, theirs = pair["trainable"]
        word = (
            f"is {'trained' if ours else 'frozen'} in torch and "
            f"{'trained' if theirs else 'frozen'} in MindSpore"
        )
        problem = Judgement(
            ours == theirs, 0.0 if ours == theirs else float("inf"), "" if ours == theirs else word
        )
        result.rows.append(Row("weights", pair["torch"], problem))


def _compare_randomness(result: Comparison, torch: Step, other: Step) -> None:
    """Dropout is switched off for the step, so its probability is compared as a number."""
    theirs: dict[str, float] = other.start["randomness"]
    for path, probability in torch.start["randomness"].items():
        place = result.matching["modules"].get(path)
        if place is None or place not in theirs:
            continue
        same = abs(theirs[place] - probability) < 1e-6
        word = f"drops with probability {theirs[place]:g} in MindSpore and {probability:g} in torch"
        result.rows.append(
            Row(
                "randomness",
                path,
                Judgement(same, 0.0 if same else float("inf"), "" if same else word),
            )
        )


def _compare_layers(result: Comparison, judged: _Judge) -> None:
    theirs = {(event["path"], event["call"]): event for event in judged.other.run["events"]}
    if not theirs:
        return
    for event in judged.torch.run["events"]:
        other_path = result.matching["modules"].get(event["path"])
        other = theirs.get((other_path, event["call"]))
        if other is None or len(other["outputs"]) != len(event["outputs"]):
            continue
        inputs = list(zip(event["inputs"], other["inputs"], strict=False))
        outputs = list(zip(event["outputs"], other["outputs"], strict=True))
        layer = Layer(
            path=event["path"],
            other_path=other["path"],
            call=event["call"],
            called=_place(event["called"]),
            other_called=_place(other["called"]),
            torch_inputs=event["inputs"],
            torch_outputs=event["outputs"],
            inputs=[judged(*pair) for pair in inputs],
            outputs=[judged(*pair) for pair in outputs],
            input_slopes=_slopes(inputs, judged),
            output_slopes=_slopes(outputs, judged),
        )
        result.layers.append(layer)
        if not layer.path:
            result.rows.extend(
                Row("inputs", f"input {i}", judgement) for i, judgement in enumerate(layer.inputs)
            )
        else:
            result.rows.append(Row("layers", layer.name, layer.worst))
    _list_unpaired(result, judged)


def _list_unpaired(result: Comparison, judged: _Judge) -> None:
    """Layers that could not be compared, since one side does not run them."""
    paired = {(layer.path, layer.other_path) for layer in result.layers}
    ours, theirs = {path for path, _ in paired}, {path for _, path in paired}
    for events, known, modules, found in (
        (judged.torch.run["events"], ours, result.modules, result.only_torch),
        (judged.other.run["events"], theirs, result.other_modules, result.only_mindspore),
    ):
        # A stopped run misses all that would have come: that is said elsewhere.
        if result.error is not None:
            continue
        missing = dict.fromkeys(event["path"] for event in events if event["path"] not in known)
        leaves = _leaves(known)
        for path in missing:
            # What a layer consists of (BatchNorm3d's `bn2d`) is compared with the layer.
            inside = any(path.startswith(f"{leaf}.") for leaf in leaves)
            if path and not inside and not _is_empty_container(path, modules):
                found.append(f"{path} ({modules[path].type})")


def _is_empty_container(path: str, modules: Mapping[str, structure.ModuleInfo]) -> bool:
    """A `Sequential()` passes its input on; MindSpore does not list it among the cells."""
    if modules[path].type not in ("Sequential", "SequentialCell"):
        return False
    return not any(other.startswith(f"{path}.") for other in modules)


def _leaves(paths: set[str]) -> set[str]:
    inner = {path.rpartition(".")[0] for path in paths}
    return {path for path in paths if path and path not in inner}


def _slopes(pairs: list[tuple[str, str]], judged: _Judge) -> list[Judgement]:
    """Judge the gradients that flow through tensors; where torch has none there is nothing to
    judge.
    """
    return [
        judged(f"slope:{ours}", f"slope:{theirs}")
        for ours, theirs in pairs
        if f"slope:{ours}" in judged.torch.tensors and f"slope:{theirs}" in judged.other.tensors
    ]


def _compare_tensors(result: Comparison, judged: _Judge) -> None:
    names = judged.torch.tensors.names()
    outputs = [name for name in names if name.startswith("output:")]
    others = [name for name in judged.other.tensors.names() if name.startswith("output:")]
    renamed = dict(zip(outputs, others, strict=False)) if outputs != others else {}
    if result.error is not None and not others:
        return
    for key in names:
        word, _, name = key.partition(":")
        stage = _STAGE_OF.get(word)
        if stage is None or (
            word in ("buffer", "final-buffer", "state") and key not in judged.other.tensors
        ):
            continue
        if word == "curve":
            name = f"loss of step {int(name) + 1}"
        shown = {
            "input-gradient": f"input {name}",
            "final": f"{name} after the last step",
            "state": f"optimizer {name}",
        }
        result.rows.append(
            Row(stage, shown.get(word, name or word), judged(key, renamed.get(key, key)))
        )


def _place(data: dict[str, Any] | None) -> structure.Place | None:
    return structure.Place(**data) if data else None
