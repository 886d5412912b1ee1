"""How strictly a step is judged, as the command line states it."""

from __future__ import annotations

from dataclasses import dataclass

# Clean twins stay below 8 times the floor, and no seeded fault falls below 37
# (docs/parity.md, docs/results/faults.md).
FACTOR = 10.0


@dataclass(frozen=True)
class Tolerance:
    """By measured noise, or by fixed bounds if given."""

    factor: float = FACTOR
    rtol: float | None = None
    atol: float | None = None
    amp: str = "O0"

    @property
    def fixed(self) -> bool:
        return self.rtol is not None or self.atol is not None
