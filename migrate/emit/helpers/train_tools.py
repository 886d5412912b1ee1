"""Small tools of training programs: recomputation, summaries, export."""

from typing import NamedTuple

import mindspore
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from migrate.emit.helpers.helper_origin import uses
from migrate.emit.helpers.modules_parameter_names import (
    answers_itself,
    as_held,
    in_torch_order,
    own_state,
    torch_names,
)


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=None,
    determinism_check="default",
    debug=False,
    early_stop=True,
    **kwargs,
):
    """Just the call: to save memory, mark the Cell with its recompute() method."""
    return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """The functions one after the other; their Cells may be marked with recompute()."""
    for function in functions:
        input = function(input)
    return input


def sharing_tensor(value):
    """A tensor of a numpy array, whose memory it shares, or of one of numpy's numbers."""
    return Tensor.from_numpy(value) if isinstance(value, np.ndarray) else mindspore.tensor(value)


def set_value(tensor, value):
    """Change a tensor itself, as torch's in-place operators do: all who hold it or a view of it
    see it.
    """
    value = value.broadcast_to(tensor.shape).astype(tensor.dtype)
    if isinstance(tensor, Parameter):
        ops.assign(tensor, value)
    else:
        tensor[()] = value  # writes to the memory; assign_value would take other memory
    return tensor


def of_same_kind(tensor, value):
    """The value of an in-place operation: torch raises where whole numbers would get fractions."""
    if value.is_floating_point() and not tensor.is_floating_point():
        raise RuntimeError(f"result type {value.dtype} can't be cast to {tensor.dtype}")
    return value.astype(tensor.dtype)


def augmented(held, value):
    """What `held += ...` leaves: a tensor, which itself changes, or a number, which does not."""
    return set_value(held, value) if isinstance(held, Tensor) else value


def detached_in_place(tensor):
    """torch's detach_(): a Parameter is frozen, a tensor that was computed is cut off."""
    if isinstance(tensor, Parameter):
        tensor.requires_grad = False
        return tensor
    return ops.stop_gradient(tensor)


def changed_in_place(tensor, value):
    """What becomes of a name that holds a Parameter, which changes, or a tensor that was computed,
    in whose place the new one comes.
    """
    if isinstance(tensor, Parameter):
        ops.assign(tensor, value)
        return tensor
    return value


class LoadedKeys(NamedTuple):
    """What load_state_dict found no value for, and what it had no place for."""

    missing_keys: list
    unexpected_keys: list

    def __repr__(self):
        if not any(self):
            return "<All keys matched successfully>"
        missing, unexpected = self
        return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


def cast_module(module, dtype):
    """torch's module.to(dtype): floating-point parameters in another precision, at their places.

    Cell.to() leaves what the parameters' operators were built for as it was.
    """
    for parameter in module.get_parameters():
        if parameter.dtype in (mindspore.float16, mindspore.bfloat16, *_WIDE):
            parameter.set_dtype(dtype)
    return module


_WIDE = (mindspore.float32, mindspore.float64)


def _as_modules_have_it(module, state_dict):
    """The state dict after each module's own _load_from_state_dict, which may rename entries."""
    own = [
        (name, part)
        for name, part in module.cells_and_names()
        if hasattr(type(part), "_load_from_state_dict")
    ]
    if own:
        state_dict = dict(state_dict)
        nn.Cell._load_from_state_dict = _load_nothing  # what their super() calls
        for name, part in own:
            prefix = f"{name}." if name else ""
            part._load_from_state_dict(state_dict, prefix, {}, True, [], [], [])
    return state_dict


def _load_nothing(self, state_dict, prefix, *args):
    """The values themselves are loaded when all modules were asked."""


def load_state_dict(module, state_dict, strict=True):
    """Give a Cell the values of a state dict, by torch's names or by MindSpore's.

    They are assigned: after a set_data, optimizers and compiled steps go on with the old memory.
    """
    if uses("state_dict methods"):
        if answers_itself(module, "load_state_dict"):
            return module.load_state_dict(state_dict, **({} if strict else {"strict": False}))
        module = module.__self__ if isinstance(module, super) else module
    if uses("_load_from_state_dict"):
        state_dict = _as_modules_have_it(module, state_dict)
    own = own_state(module)
    names = torch_names(module, own)
    given = {names.get(name, name): value for name, value in state_dict.items()}
    # torch fills in the counters of a dict that was put together, and MindSpore has them in part.
    places = [name for name, _ in in_torch_order(list(own.items()))]
    missing = _without_counters(names[name] for name in places if names[name] not in given)
    unexpected = [name for name in given if name not in names.values()]
    if len(_without_counters(own)) == len(own):
        unexpected = _without_counters(unexpected)  # torch's norms count, these do not
    refused = _named_keys("Missing", missing) + _named_keys("Unexpected", unexpected)
    wrong = refused if strict else []
    for name, tensor in own.items():
        if names[name] in given:
            value = given[names[name]]
            if uses("Conv1d"):
                value = as_held(value, tensor)
            if tuple(value.shape) != tuple(tensor.shape):
                wrong.append(
                    f"size mismatch for {names[name]}: copying a param with shape "
                    f"torch.Size({list(value.shape)}) from checkpoint, the shape in current model "
                    f"is torch.Size({list(tensor.shape)})."
                )
                continue
            set_value(tensor, value if isinstance(value, Tensor) else Tensor(value))
    if wrong:
        found = "\n\t".join(wrong)
        kind = type(module).__name__.removesuffix("Cell").replace("Dense", "Linear")
        raise RuntimeError(f"Error(s) in loading state_dict for {kind}:\n\t{found}")
    return LoadedKeys(missing, unexpected) if uses("keys that load_state_dict returns") else None


def _without_counters(names):
    return [name for name in names if not name.endswith("num_batches_tracked")]


def _named_keys(kind, names):
    """What torch says of keys that are missing or not expected."""
    shown = ", ".join(f'"{name}"' for name in names)
    return [f"{kind} key(s) in state_dict: {shown}. "] if names else []


def export_onnx(model, args, f):
    """Write the network as ONNX."""
    inputs = args if isinstance(args, (tuple, list)) else (args,)
    mindspore.export(model, *inputs, file_name=str(f).removesuffix(".onnx"), file_format="ONNX")


class SummaryWriter:
    """torch.utils.tensorboard.SummaryWriter on mindspore.SummaryRecord."""

    def __init__(
        self,
        log_dir=None,
        comment="",
        purge_step=None,
        max_queue=10,
        flush_secs=120,
        filename_suffix="",
    ):
        self.log_dir = log_dir or "runs"
        self.record = mindspore.SummaryRecord(self.log_dir)

    def _add(self, kind, tag, value, step):
        value = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
        self.record.add_value(kind, tag, Tensor(value.astype(np.float32)))
        self.record.record(0 if step is None else int(step))

    def add_scalar(
        self,
        tag,
        scalar_value,
        global_step=None,
        walltime=None,
        new_style=False,
        double_precision=False,
    ):
        self._add("scalar", tag, scalar_value, global_step)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        for tag, value in tag_scalar_dict.items():
            self._add("scalar", f"{main_tag}/{tag}", value, global_step)

    def add_histogram(
        self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None
    ):
        self._add("histogram", tag, values, global_step)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        image = img_tensor.asnumpy() if isinstance(img_tensor, Tensor) else np.asarray(img_tensor)
        if dataformats == "HWC":
            image = image.transpose(2, 0, 1)
        self._add("image", tag, image[None], global_step)

    def flush(self):
        self.record.flush()

    def close(self):
        self.record.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def grad_and_value(func, argnums=0, has_aux=False):
    """torch.func.grad_and_value: the gradient comes before the value."""
    both = mindspore.value_and_grad(func, grad_position=argnums, has_aux=has_aux)

    def gradient_first(*args):
        value, gradient = both(*args)
        return gradient, value

    return gradient_first


def jvp(func, primals, tangents):
    """torch.func.jvp: inputs and tangents are tuples."""
    if len(primals) == 1:
        return mindspore.jvp(func, primals[0], tangents[0])
    return mindspore.jvp(func, tuple(primals), tuple(tangents))
