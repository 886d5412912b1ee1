"""`net.apply(freeze)`: what torch calls the functions with that it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from migrate.resolve.values import INT, MODULE, TENSOR, UNKNOWN, ListOf, Value

_TENSORS = ListOf(TENSOR, "tuple")

# API -> (where the function stands, its keyword, what it is called with)
_CALLED_WITH: Mapping[str, tuple[int, str, tuple[Value, ...]]] = {
    "torch.nn.Module.apply": (0, "fn", (MODULE,)),
    "torch.nn.Module.register_forward_hook": (0, "hook", (MODULE, _TENSORS, UNKNOWN)),
    "torch.nn.Module.register_forward_pre_hook": (0, "hook", (MODULE, _TENSORS)),
    "torch.nn.Module.register_backward_hook": (0, "hook", (MODULE, _TENSORS, _TENSORS)),
    "torch.nn.Module.register_full_backward_hook": (0, "hook", (MODULE, _TENSORS, _TENSORS)),
    "torch.nn.Module.register_full_backward_pre_hook": (0, "hook", (MODULE, _TENSORS)),
    "torch.Tensor.register_hook": (0, "hook", (TENSOR,)),
    "torch.Tensor.register_post_accumulate_grad_hook": (0, "hook", (TENSOR,)),
    "torch.optim.lr_scheduler.LambdaLR": (1, "lr_lambda", (INT,)),
    "torch.optim.lr_scheduler.MultiplicativeLR": (1, "lr_lambda", (INT,)),
}


def called_back(
    api: str, values: list[Value], keywords: Mapping[str | None, Value]
) -> Iterator[tuple[Value, list[Value]]]:
    """The function that the API is given, with the arguments that it will get."""
    known = _CALLED_WITH.get(api)
    if known is None:
        return
    place, name, arguments = known
    function = values[place] if len(values) > place else keywords.get(name)
    if function is not None:
        yield function, list(arguments)
