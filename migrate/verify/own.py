"""Our own samples as trials: attributes, Tensor methods, initialisers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from migrate.verify.own_members import MEMBERS
from migrate.verify.own_samples import INITS, SAMPLES
from migrate.verify.program import Trial
from migrate.verify.session import run_trials

PREFIX = "own:"


def case_names() -> dict[str, list[str]]:
    return {f"{PREFIX}{api}": [api] for api in sorted({*SAMPLES, *INITS, *MEMBERS})}


def run_case(key: str, folder: Path, start: int, note: Any) -> None:
    run_trials(trials_of(key), folder, start, note)


def trials_of(key: str) -> list[Trial]:
    api = key.removeprefix(PREFIX)
    return _inits(api) if api in INITS else _member(api) if api in MEMBERS else _expressions(api)


def _member(api: str) -> list[Trial]:
    """An attribute of a layer; layers are built outside of graphs."""
    return [Trial(api, f"def {{name}}():\n    return {MEMBERS[api]}\n", [])]


def _inputs() -> dict[str, Any]:
    """The names that sample expressions may use; odd sizes, both signs, no two dimensions alike."""
    import torch

    draw = torch.Generator().manual_seed(11)

    def normal(*shape: int) -> Any:
        return torch.randn(shape, generator=draw)

    return {
        "x": normal(2, 3, 4).requires_grad_(),
        "y": normal(2, 3, 4).requires_grad_(),
        "m": normal(3, 5).requires_grad_(),
        "s": normal(4, 4).requires_grad_(),
        "v": normal(7).requires_grad_(),
        "w": normal(7).requires_grad_(),
        "p": (normal(3, 4).abs() + 0.1).requires_grad_(),
        "q": normal(2, 3, 8, 6).requires_grad_(),
        "c": normal(2, 3, 5, 4, 6).requires_grad_(),
        "big": normal(60, 50),
        "i": torch.randint(0, 4, (3, 5), generator=draw),
        "j": torch.randint(1, 9, (3, 5), generator=draw),
        "k": torch.randint(0, 3, (7,), generator=draw),
        "b": torch.rand(3, 5, generator=draw) > 0.5,
        "one": normal(1),
        "zero_d": torch.tensor(1.5),
    }


def _expressions(api: str) -> list[Trial]:
    inputs = _inputs()
    trials = []
    for place, expression in enumerate(SAMPLES[api]):
        used = [n for n in inputs if re.search(rf"(?<![\\w.]){n}(?![\\w=])", expression)]
        head = ", ".join(f"{name}: torch.Tensor" for name in used)
        *before, last = expression.split("; ")
        body = "".join(f"    {line}\n" for line in before)
        text = f"def {{name}}({head}):\n{body}    return {last}\n"
        values = [inputs[name] for name in used]
        gradient = any(value.requires_grad for value in values)
        trials.append(
            Trial(api, text, values, gradient=gradient, graph=place == 0 and not _fills(api))
        )
    return trials


def _fills(api: str) -> bool:
    """Initialisers give a Parameter new values, which no graph does."""
    return api.startswith("torch.nn.init.") and api.endswith("_")


def _inits(api: str) -> list[Trial]:
    """A layer's weight, as programs initialise it: exact where constant, else in distribution."""
    return [
        Trial(
            api,
            "def {name}():\n"
            f"    layer = {layer}\n"
            f"    {api}(layer.weight{', ' + rest if rest else ''})\n"
            "    return layer.weight\n",
            [],
        )
        for layer, rest in INITS[api]
    ]
