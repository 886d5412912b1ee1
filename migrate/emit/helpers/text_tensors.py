"""Tensors as text, in torch's words: `tensor([1., 2.])`, `torch.Size([2, 3])`, `torch.float32`."""

import math

import mindspore
import numpy as np
from mindspore import Parameter, Tensor

_PRINT_DEFAULTS = {
    "precision": 4,
    "threshold": 1000,
    "edgeitems": 3,
    "linewidth": 80,
    "sci_mode": None,
}
_PRINT_PROFILES = {
    "default": _PRINT_DEFAULTS,
    "short": {**_PRINT_DEFAULTS, "precision": 2, "edgeitems": 2},
    "full": {**_PRINT_DEFAULTS, "threshold": math.inf},
}
_print_options = dict(_PRINT_DEFAULTS)


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """torch.set_printoptions."""
    if profile is not None:
        _print_options.update(_PRINT_PROFILES[profile])
    given = dict(zip(_PRINT_DEFAULTS, (precision, threshold, edgeitems, linewidth), strict=False))
    _print_options.update({name: value for name, value in given.items() if value is not None})
    _print_options["sci_mode"] = sci_mode


class Size(tuple):
    """torch.Size: a tuple that says so."""

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __getitem__(self, place):
        found = super().__getitem__(place)
        return Size(found) if isinstance(place, slice) else found

    def __add__(self, other):
        return Size((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def numel(self):
        return math.prod(self)


def shown_size(value):
    """The shape of a tensor as text shows it; an array's stays a tuple."""
    return Size(value.shape) if isinstance(value, Tensor) else value.shape


def dtype_name(dtype):
    """torch's name of a dtype; what is none of MindSpore's stays as it is."""
    if not isinstance(dtype, mindspore.Type):
        return dtype
    name = str(dtype).lower()
    return f"torch.{ {'bool_': 'bool'}.get(name, name) }"


def size_text(shape):
    """torch's text of a shape, for code that Graph mode compiles."""
    return f"torch.Size({list(shape)})"


def dtype_text(dtype):
    """torch's name of a dtype, for code that Graph mode compiles."""
    return f"torch.{str(dtype).lower()}"


class _ShownNumbers:
    """How all the numbers of one tensor are written: one width, one style."""

    def __init__(self, values):
        self.real = values.dtype.kind == "f"
        self.width, self.whole, self.scientific = 1, True, False
        if not self.real:
            self.width = max((len(f"{value}") for value in values.tolist()), default=1)
            return
        counted = values[np.isfinite(values) & (values != 0)].astype(np.float64)
        if counted.size:
            sizes = np.abs(counted)
            low, high = sizes.min(), sizes.max()
            self.whole = bool((counted == np.ceil(counted)).all())
            self.scientific = high / low > 1000 or high > 1e8 or (not self.whole and low < 1e-4)
            if _print_options["sci_mode"] is not None:
                self.scientific = _print_options["sci_mode"]
            self.width = max(len(self._number(value)) for value in counted.tolist())

    def _number(self, value):
        if not self.real:
            return f"{value}"
        if self.scientific:
            return f"{value:.{_print_options['precision']}e}"
        if self.whole:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{_print_options['precision']}f}"

    def text(self, value):
        return self._number(value).rjust(self.width)


def _shown_ends(array):
    """The part of a large tensor that is shown."""
    if array.ndim == 0:
        return array
    edge = _print_options["edgeitems"]
    rows = [*array[:edge], *array[-edge:]] if len(array) > 2 * edge else list(array)
    return np.stack([_shown_ends(row) for row in rows]) if rows else array


def _shown_rows(array, indent, numbers, short):
    edge = _print_options["edgeitems"]
    cut = short and array.ndim and len(array) > 2 * edge
    if array.ndim == 0:
        return numbers.text(array.item())
    if array.ndim == 1:
        texts = [numbers.text(value) for value in array.tolist()]
        if cut:
            texts = [*texts[:edge], " ...", *texts[-edge:]]
        count = max(1, (_print_options["linewidth"] - indent) // (numbers.width + 2))
        lines = [", ".join(texts[i : i + count]) for i in range(0, len(texts), count)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    rows = [*array[:edge], None, *array[-edge:]] if cut else list(array)
    parts = ["..." if row is None else _shown_rows(row, indent + 1, numbers, short) for row in rows]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def tensor_text(tensor, *suffixes):
    """torch's repr of a tensor."""
    name = dtype_name(tensor.dtype)
    wide = "bfloat16" in name
    array = (tensor.astype(mindspore.float32) if wide else tensor).asnumpy()
    notes = []
    if array.size == 0:
        body = "[]"
        if array.ndim != 1:
            notes.append(f"size={tuple(array.shape)}")
        plain = name == "torch.float32"
    else:
        short = array.size > _print_options["threshold"]
        shown = _shown_ends(array) if short else array
        body = _shown_rows(array, len("tensor("), _ShownNumbers(shown.reshape(-1)), short)
        plain = name in ("torch.float32", "torch.int64", "torch.bool", "torch.complex64")
    notes += [] if plain else [f"dtype={name}"]
    text = f"tensor({body}"
    last = len(text) - text.rfind("\n") - 1
    for note in (*notes, *suffixes):
        if last + len(note) + 2 > _print_options["linewidth"]:
            text += ",\n" + " " * len("tensor(") + note
            last = len("tensor(") + len(note)
        else:
            text += f", {note}"
            last += len(note) + 2
    return text + ")"


def _as_text(self):
    return tensor_text(self)


def _parameter_text(self):
    wanted = ("requires_grad=True",) if self.requires_grad else ()
    if getattr(self, "is_torch_leaf", False):
        return tensor_text(self, *wanted)
    return "Parameter containing:\n" + tensor_text(self, *wanted)


def shown_as_leaf(parameter):
    """`torch.ones(2, requires_grad=True)`: its text is a tensor's."""
    parameter.is_torch_leaf = True
    return parameter


def _in_format(self, spec):
    return format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)


def _show_as_torch():
    """print(x), str(x), f"{x}": as torch shows a tensor."""
    Tensor.__format__ = _in_format
    Tensor.__str__ = Tensor.__repr__ = _as_text
    Parameter.__str__ = Parameter.__repr__ = _parameter_text
    return True


shown_tensors = _show_as_torch()
