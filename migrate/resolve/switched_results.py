"""Results whose form an argument chooses: `nonzero(as_tuple=True)`, `unique(x, True)`."""

from __future__ import annotations

from migrate.resolve.types import from_word
from migrate.resolve.values import Known, Value

# The switches of a function, with the place each has among its positional arguments (methods count
# from their first argument). Each that is on adds a tensor to the result.
_ADDING = {
    "torch.unique": {"return_inverse": 2, "return_counts": 3},
    "torch.Tensor.unique": {"return_inverse": 1, "return_counts": 2},
    "torch.unique_consecutive": {"return_inverse": 1, "return_counts": 2},
    "torch.Tensor.unique_consecutive": {"return_inverse": 0, "return_counts": 1},
}
_NONZERO = ("torch.nonzero", "torch.Tensor.nonzero")


def switched_result(
    api: str, values: list[Value], keywords: dict[str | None, Value]
) -> Value | None:
    """None where no switch decides, or where it is not known how a switch stands."""
    if None in keywords:
        return None
    if api in _NONZERO:
        split = _stands(keywords.get("as_tuple"))
        return None if split is None else from_word("tuple[Tensor]" if split else "Tensor")
    switches = _ADDING.get(api)
    if switches is None:
        return None
    given = [
        _stands(keywords.get(name, values[place] if place < len(values) else None))
        for name, place in switches.items()
    ]
    if None in given:
        return None
    count = 1 + sum(map(bool, given))
    return from_word("Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]")


def _stands(value: Value | None) -> bool | None:
    """On, off (also where it is not given), or not known."""
    if value is None:
        return False
    return bool(value.value) if isinstance(value, Known) else None
