"""What a ported training loop needs around value_and_grad."""

import os

import mindspore
import numpy as np
from mindspore import ops

from migrate.emit.helpers.helper_origin import uses
from migrate.emit.helpers.train_gradient import update
from migrate.emit.helpers.train_leaves import gradients_at_tensors
from migrate.emit.helpers.train_reach import mark_missing, with_zeros


def gradients_of(optimizer):
    """The gradients that have added up for an optimizer: kept from call to call, as torch's are."""
    kept = vars(optimizer).get("_added_up")
    if kept is None:
        kept = Gradients(optimizer.parameters)
        object.__setattr__(optimizer, "_added_up", kept)
    return kept


class Gradients:
    """torch's .grad of a group of parameters: backward adds to it, zero_grad clears it."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.found = None
        self.missing = [True] * len(self.parameters)

    @property
    def values(self):
        """What the optimizer is to use, with a note at each parameter that has no gradient."""
        mark_missing(self.parameters, self.missing)
        return self.found

    @values.setter
    def values(self, gradients):
        self.found = gradients

    def add(self, gradients):
        now = [getattr(p, "has_no_gradient", False) for p in self.parameters]
        if self.found is None:
            self.found, self.missing = gradients, now
        else:
            added = tuple(old + new for old, new in zip(self.found, gradients, strict=True))
            # Tensors in a plain tuple count as constants: every step would compile anew.
            self.found = mindspore.mutable(added)
            self.missing = [a and b for a, b in zip(self.missing, now, strict=True)]

    def clear(self, set_to_none=True):
        if set_to_none or self.found is None:
            self.found = None
        else:
            self.found = mindspore.mutable(tuple(ops.zeros_like(one) for one in self.found))


class ParameterGradients:
    """Gradients at the parameters, `p.grad`, where torch's backward() leaves them and whatever
    the program does with them counts.
    """

    kept_at = gradients_at_tensors

    def __init__(self, parameters):
        whole = callable(parameters) or hasattr(parameters, "shape")
        self._given = parameters if whole else list(parameters)

    @property
    def parameters(self):
        """A function is asked each time: its optimizer may be made later, or get more of them."""
        if hasattr(self._given, "shape"):
            return [self._given]
        return list(self._given()) if callable(self._given) else self._given

    @property
    def values(self):
        """What the optimizer is to use: zeros, and a note at the parameter, where there is none."""
        found = [getattr(p, "grad", None) for p in self.parameters]
        return mindspore.mutable(with_zeros(self.parameters, found))

    @values.setter
    def values(self, gradients):
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            if getattr(parameter, "grad", None) is not None:
                parameter.grad = gradient

    def add(self, gradients):
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            if getattr(parameter, "has_no_gradient", False):
                continue
            old = getattr(parameter, "grad", None)
            parameter.grad = gradient if old is None else old + gradient

    def clear(self, set_to_none=True):
        for parameter in self.parameters:
            old = getattr(parameter, "grad", None)
            parameter.grad = None if set_to_none or old is None else ops.zeros_like(old)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Clip the gradients at the parameters, all together; the norm they had."""
    kept = ParameterGradients(parameters)
    kept.values, total = clip_grad_norm(kept.values, max_norm, norm_type, error_if_nonfinite)
    return total


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Clip every value of the gradients at the parameters."""
    kept = ParameterGradients(parameters)
    kept.values = clip_grad_value(kept.values, clip_value)


def clip_grad_norm(
    gradients, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None, of=None, only=None
):
    """The gradients scaled down to a norm of at most `max_norm`, and the norm they had.

    With `only`, those of the parameters `of` that are listed there.
    """
    if only is not None:
        ways = (max_norm, norm_type, error_if_nonfinite)
        return _clipped_in_part(gradients, of, only, clip_grad_norm, *ways)
    if norm_type == float("inf"):
        total = ops.stack([ops.abs(g).max() for g in gradients]).max()
    else:
        total = sum((ops.abs(g).astype(mindspore.float32) ** norm_type).sum() for g in gradients)
        total = total ** (1.0 / norm_type)
    if error_if_nonfinite and not np.isfinite(total.asnumpy()):
        raise RuntimeError(f"the norm of order {norm_type} of the gradients is {total}")
    factor = ops.minimum(max_norm / (total + 1e-6), mindspore.Tensor(1.0, mindspore.float32))
    return mindspore.mutable(tuple(g * factor.astype(g.dtype) for g in gradients)), total


def clip_grad_value(gradients, clip_value, foreach=None, of=None, only=None):
    """The gradients with every value brought into [-clip_value, clip_value]."""
    if only is not None:
        return _clipped_in_part(gradients, of, only, _clip_values, clip_value)[0]
    return _clip_values(gradients, clip_value)[0]


def _clip_values(gradients, clip_value):
    clipped = tuple(ops.clamp(g, min=-clip_value, max=clip_value) for g in gradients)
    return mindspore.mutable(clipped), None


def _clipped_in_part(gradients, parameters, only, clip, *settings):
    """Clip the gradients of some parameters together; the others stay as they are."""
    listed = [only] if isinstance(only, mindspore.Tensor) else list(only)
    chosen = {id(parameter) for parameter in listed}
    places = [i for i, parameter in enumerate(parameters) if id(parameter) in chosen]
    gradients = list(gradients)
    if not places:
        return mindspore.mutable(tuple(gradients)), mindspore.Tensor(0.0, mindspore.float32)
    clipped, total = clip([gradients[i] for i in places], *settings)
    for place, gradient in zip(places, clipped, strict=True):
        gradients[place] = gradient
    return mindspore.mutable(tuple(gradients)), total


class GradScaler:
    """torch's GradScaler: scales the loss, drops steps whose gradients overflowed, adapts the
    scale. MS_MIGRATE_LOSS_SCALE, a number, fixes it instead.
    """

    def __init__(
        self,
        device="cuda",
        init_scale=65536.0,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        if not isinstance(device, str):  # torch.cuda.amp.GradScaler(1024.0)
            device, init_scale = "cuda", device
        forced = {"MS_MIGRATE_AMP_LEVEL", "MS_MIGRATE_LOSS_SCALE"} & os.environ.keys()
        if device != "cpu" and mindspore.get_context("device_target") == "CPU" and not forced:
            enabled = False  # as in torch, where there is no GPU
        if fixed := os.environ.get("MS_MIGRATE_LOSS_SCALE"):
            init_scale, growth_factor, backoff_factor = float(fixed), 1.0, 1.0
        self.enabled = enabled
        self.factor = mindspore.Parameter(
            mindspore.Tensor(init_scale if enabled else 1.0, mindspore.float32),
            name="loss_scale",
            requires_grad=False,
        )
        self.growth_factor = growth_factor
        self.backoff_factor = backoff_factor
        self.growth_interval = growth_interval
        self.growth_tracker = 0
        self.overflowed = {}  # optimizers whose gradients are unscaled: whether one overflowed

    def scale(self, loss):
        if isinstance(loss, (list, tuple)):
            return type(loss)(self.scale(one) for one in loss)
        return loss * self.factor.astype(loss.dtype)

    def unscale(self, gradients, optimizer=None):
        """Gradients of the bare loss; also looks for overflow."""
        if not self.enabled:
            return gradients
        if id(optimizer) in self.overflowed:
            raise RuntimeError("unscale_() has already been called on this optimizer")
        self.overflowed[id(optimizer)] = not bool(mindspore.amp.all_finite(gradients))
        inverse = 1.0 / self.factor
        return mindspore.mutable(tuple(g * inverse.astype(g.dtype) for g in gradients))

    def unscale_(self, optimizer):
        """unscale() of the gradients that lie at the parameters."""
        kept = ParameterGradients(optimizer.parameters)
        kept.values = self.unscale(kept.values, optimizer)

    def step(self, optimizer, gradients=None):
        """Step, unless a gradient of this optimizer is infinite or not a number; without
        gradients, by those that lie at the parameters.
        """
        if gradients is None and (uses("backward") or uses("grad")):
            gradients = ParameterGradients(optimizer.parameters).values
        place = id(None) if id(None) in self.overflowed else id(optimizer)
        if self.enabled and place not in self.overflowed:
            gradients = self.unscale(gradients, optimizer)
        if self.overflowed.get(place, False):
            return
        if uses("weights without gradients"):
            update(optimizer, gradients)
        else:
            optimizer(gradients)

    def update(self, new_scale=None):
        if self.enabled:
            if new_scale is not None:
                self._set(float(new_scale))
            elif any(self.overflowed.values()):
                self._set(self.get_scale() * self.backoff_factor)
                self.growth_tracker = 0
            else:
                self.growth_tracker += 1
                if self.growth_tracker == self.growth_interval:
                    self._set(self.get_scale() * self.growth_factor)
                    self.growth_tracker = 0
        self.overflowed = {}

    def get_scale(self):
        return float(self.factor.asnumpy())

    def is_enabled(self):
        return self.enabled

    def state_dict(self):
        if not self.enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self.growth_factor,
            "backoff_factor": self.backoff_factor,
            "growth_interval": self.growth_interval,
            "_growth_tracker": self.growth_tracker,
        }

    def load_state_dict(self, state):
        if self.enabled:
            self._set(float(state["scale"]))
            self.growth_factor = float(state["growth_factor"])
            self.backoff_factor = float(state["backoff_factor"])
            self.growth_interval = int(state["growth_interval"])
            self.growth_tracker = int(state["_growth_tracker"])

    def _set(self, value):
        ops.assign(self.factor, mindspore.Tensor(value, mindspore.float32))
