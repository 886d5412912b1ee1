"""What usually causes a difference of this kind, said only where the evidence points to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from migrate.parity.judge.compare import Comparison, Row
from migrate.parity.judge.tolerance import Judgement
from migrate.parity.workers.structure import ModuleInfo

__all__ = ["Judgement", "for_buffers", "for_layer", "for_loss", "for_update"]

# torch's and MindSpore's names for one setting, and how MindSpore's value reads in torch's terms.
_SAME_SETTING = (
    ("eps", ("eps", "epsilon"), False),
    ("momentum", ("momentum",), True),
    ("negative_slope", ("alpha", "negative_slope"), False),
    ("stride", ("stride",), False),
    ("dilation", ("dilation",), False),
    ("groups", ("group", "groups"), False),
    ("kernel_size", ("kernel_size",), False),
    ("p", ("p",), False),
)


def settings(arguments: str) -> dict[str, str]:
    """Read `key=value` pairs as a layer prints them."""
    pairs = re.findall(r"(\w+)=((?:\([^)]*\)|\[[^\]]*\]|[^,])+)", arguments)
    return {key: value.strip() for key, value in pairs}


def for_layer(ours: ModuleInfo, theirs: ModuleInfo) -> list[str]:
    """Settings that both layers print and that do not agree."""
    torch, mindspore = settings(ours.arguments), settings(theirs.arguments)
    return [*_unlike(torch, mindspore), *_other_defaults(ours, torch, mindspore)]


def _unlike(torch: dict[str, str], mindspore: dict[str, str]) -> Iterator[str]:
    """The same setting, given another number."""
    for name, others, inverted in _SAME_SETTING:
        other = next((key for key in others if key in mindspore), None)
        if name not in torch or other is None:
            continue
        left, right = _numbers(torch[name]), _numbers(mindspore[other])
        if left and right and inverted:
            right = [1 - value for value in right]
        if left and right and not _equal(left, right):
            yield (
                f"{name} is {_shown(torch[name])} in torch and {other}="
                f"{_shown(mindspore[other])} in MindSpore{_INVERTED if inverted else ''}."
            )


_INVERTED = " (MindSpore's momentum weighs the old value: it must be 1 - torch's)"


def _other_defaults(
    ours: ModuleInfo, torch: dict[str, str], mindspore: dict[str, str]
) -> list[str]:
    """What MindSpore's layer does unless it is told otherwise."""
    found = []
    if mindspore.get("pad_mode", "").lower() == "same" and _numbers(torch.get("padding", "0")) != [
        0.0
    ]:
        found.append(
            f"pad_mode='same' is not padding={torch.get('padding')}: it pads more at the end "
            "than at the start; "
            "use pad_mode='pad' with torch's padding."
        )
    if ours.type == "GELU" and "tanh" not in ours.arguments:
        found.append("MindSpore's nn.GELU uses the tanh approximation unless approximate=False.")
    if (
        ours.type == "LayerNorm"
        and "eps" in torch
        and "epsilon" not in mindspore
        and "eps" not in mindspore
    ):
        found.append(
            "MindSpore's nn.LayerNorm uses epsilon=1e-7 unless told otherwise; torch's "
            "default is 1e-5."
        )
    return found


def for_loss(bad: Comparison) -> list[str]:
    rows = bad.failed("loss")
    measures = rows[0].judgement.measures if rows else None
    if measures is None or not measures.truth_mean:
        return []
    ratio = measures.other_mean / measures.truth_mean
    near = round(ratio)
    if near > 1 and abs(ratio - near) < 1e-3:
        return [f"MindSpore's loss is {near} times torch's: a sum where torch takes a mean?"]
    return [f"torch's loss is {measures.truth_mean:.6g}, MindSpore's {measures.other_mean:.6g}."]


def for_update(bad: Comparison, stage: str) -> list[str]:
    """One factor on every update is a learning rate; only norms and biases wrong is weight
    decay.
    """
    wrong = bad.failed(stage)
    rows = [row for row in bad.rows if row.stage == stage and row.judgement.measures is not None]
    factors = [f for row in wrong if (f := _factor(row)) is not None]
    if stage == "curve":
        return ["Look at what works from the second step on: momentum, state, the schedule."]
    # Where the gradient is all noise, an update agrees whatever the rate.
    if factors and len(factors) == len(wrong) and _is_one_factor(factors):
        if factors[0] == 0:
            return ["MindSpore's parameters do not move at all: the optimizer changes nothing."]
        return [
            f"Every update that differs is {factors[0]:.4g} times torch's: look at the learning "
            "rate and at nesterov."
        ]
    return [_group_hint(bad, [row.name for row in wrong], len(rows))]


def _is_one_factor(factors: list[float]) -> bool:
    return max(factors) - min(factors) <= 0.01 * abs(factors[0])


def _group_hint(bad: Comparison, names: list[str], every: int) -> str:
    """Which parameters are wrong, of all that were compared."""
    one_axis = [name for name in names if name.rpartition(".")[2] == "bias" or _is_norm(bad, name)]
    if names and len(one_axis) == len(names) and len(names) < every:
        return (
            "Only norms and biases differ: look at which parameters decay (no_decay groups "
            "on one side only)."
        )
    if len(names) < every:
        return (
            "Some parameters agree, so the learning rate does; look at weight decay and "
            "parameter groups."
        )
    return (
        "All parameters differ: look at weight decay, momentum, eps and the order of bias "
        "correction."
    )


def _is_norm(bad: Comparison, name: str) -> bool:
    module = bad.modules.get(name.rpartition(".")[0])
    return module is not None and "norm" in module.type.lower()


def _factor(row: Row) -> float | None:
    """How many times torch's tensor MindSpore's is, if it is one factor throughout."""
    m = row.judgement.measures
    if m is None or not m.truth_norm:
        return None
    other = (m.other_mean**2 + m.other_std**2) ** 0.5 / max(
        (m.truth_mean**2 + m.truth_std**2) ** 0.5, 1e-300
    )
    if other == 0:
        return 0.0
    return other if m.cosine > 0.9999 else None


def for_buffers(rows: list[Row]) -> list[str]:
    if all(row.name.endswith("running_var") for row in rows):
        return ["Only variances differ: torch keeps the unbiased variance (n - 1)."]
    return [
        "Running statistics that differ while outputs agree come from the momentum, or from "
        "statistics that never move."
    ]


def _shown(text: str) -> str:
    """MindSpore prints 1 - 0.9 with all its digits."""
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _numbers(text: str) -> list[float]:
    found = [float(n) for n in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]
    return found[:1] if found and len(set(found)) == 1 else found


def _equal(left: list[float], right: list[float]) -> bool:
    return len(left) == len(right) and all(
        abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1e-30) for a, b in zip(left, right, strict=True)
    )
