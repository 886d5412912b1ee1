"""What one step is: everything both sides must agree on before they run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from migrate.parity.request.inputs import InputSpec
from migrate.parity.request.inputs import from_json as input_from_json


@dataclass(frozen=True)
class Plan:
    """The step to take. It travels as JSON from the command line to the workers and into the
    record.
    """

    inputs: list[InputSpec]
    target: InputSpec | None = None
    classes: int | None = None
    loss: str = "project"
    optimizer: str = "sgd:lr=0.01"
    steps: int = 1
    seed: int = 0
    train: bool = True
    amp: str = "O0"
    device: str = "CPU"
    submodule: str = ""
    # "perturb" moves constant parameters (zeros, ones) off their value, since a wrong
    # use of a zero bias or of a running mean of zero would go unseen.
    init: str = "perturb"
    weights: str = ""
    # float32 runs that make the noise floor; 0 means fixed tolerances.
    noise_runs: int = 6
    # True keeps dropout and friends as the models configure them.
    keep_random: bool = False
    layers: bool = True
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def from_json(data: dict[str, Any]) -> Plan:
    target = data.get("target")
    return Plan(
        **{
            **data,
            "inputs": [input_from_json(spec) for spec in data["inputs"]],
            "target": input_from_json(target) if target else None,
        }
    )
