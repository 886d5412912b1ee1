"""What torch's optimizers have in common in MindSpore: the same update for every parameter of a
group.
"""

import mindspore
from mindspore import Parameter, ParameterTuple, Tensor, ops
from mindspore.experimental import optim

from migrate.emit.helpers.helper_origin import uses
from migrate.emit.helpers.train_leaves import as_parameter, from_tensors, to_tensors
from migrate.emit.helpers.train_reach import apply_to_reached, with_zeros


def _negative(gradient):
    return -gradient


def with_unique_names(params):
    """The parameters, or groups of them, for an optimizer: it refuses two of one name, as two
    networks of one class have them, so later ones get a number.
    """
    if isinstance(params, Tensor):
        raise TypeError("params of an optimizer must be a list of tensors or dicts, not a tensor")
    params = [{**one, "params": _listed(one)} if isinstance(one, dict) else one for one in params]
    if uses("record") or uses("start_recording"):
        params = [
            one if isinstance(one, dict) else as_parameter(one, f"tensor_{place}")
            for place, one in enumerate(params)
        ]
    flat = [p for one in params for p in (one["params"] if isinstance(one, dict) else [one])]
    owners = {}
    for parameter in flat:
        name, number = parameter.name, 2
        while owners.setdefault(parameter.name, parameter) is not parameter:
            parameter.name = f"{name}_{number}"
            number += 1
    return params


def _listed(group):
    found = group["params"]
    found = [found] if isinstance(found, Tensor) else list(found)
    if not (uses("record") or uses("start_recording")):
        return found
    return [as_parameter(one, f"tensor_{place}") for place, one in enumerate(found)]


def group_numbers(optimizer):
    """The number of the group of each parameter."""
    groups = optimizer.param_groups
    return [number for number, group in enumerate(groups) for _ in group["params"]]


class MappedOptimizer(optim.Optimizer):
    """Calls `update` once a group; that maps one function over the parameters.

    MindSpore's own optimizers loop. The compiler unrolls a loop: that takes many seconds for the
    parameters of a ResNet-50, and does not compile for five hundred.
    """

    if uses("weights without gradients"):
        skips_missing = True

    def __init__(self, params, defaults):
        super().__init__(with_unique_names(params), defaults)
        self.wide = False
        if uses("double precision"):
            self.wide = any(p.dtype == mindspore.float64 for p in self.parameters)
        self.settings = tuple(name for name in defaults if name not in ("lr", "maximize"))
        self.state_step = Parameter(Tensor(0, mindspore.float32), name="state_step")

    if uses("param_groups"):

        def _build_single_lr(self, learning_rate, name):
            """The rate as a Parameter that knows how it was written: `lr=1` reads as 1, not 1.0."""
            made = super()._build_single_lr(learning_rate, name)
            if isinstance(learning_rate, (int, float)):
                made.written = learning_rate
            return made

    def moments(self, name, init="zeros"):
        """A Parameter for each parameter, to remember something in."""
        made = self.parameters.clone(prefix=name, init=init)
        kinds = vars(self).setdefault("_moment_kinds", {})
        kinds[id(made[0])] = (name, init)  # a Cell may keep a copy of the tuple
        return made

    def numbers(self, name, values):
        """A number for each parameter, as a Parameter: one value for all, or a list of them."""
        values = values if isinstance(values, list) else [values] * len(self.parameters)
        made = ParameterTuple(
            Parameter(Tensor(value, mindspore.float32), name=f"{name}.{parameter.name}")
            for parameter, value in zip(self.parameters, values, strict=True)
        )
        vars(self).setdefault("_moment_kinds", {})[id(made[0])] = (name, None)
        return made

    def add_param_group(self, param_group):
        """One more group; its parameters have taken no step yet."""
        if "hyper_map" not in vars(self):  # the groups that the optimizer is made with
            return super().add_param_group(param_group)
        taken = int(self.state_step.asnumpy())
        size = len(self.parameters)
        counts = vars(self).get("_steps_taken") or [taken] * size
        groups = [{"params": list(self.parameters)}, param_group]
        super().add_param_group(with_unique_names(groups)[1])
        new = ParameterTuple(self.parameters[size:])
        self.parameters = ParameterTuple(self.parameters)
        kinds = vars(self).get("_moment_kinds", {})
        made = {}  # an attribute may hold the moments of another one
        for attribute, row in list(vars(self).items()):
            if isinstance(row, tuple) and len(row) == size and id(row[0]) in kinds:
                name, init = kinds[id(row[0])]
                if name not in made:
                    more = self._first(name, new) if init is None else new.clone(name, init)
                    made[name] = ParameterTuple((*row, *more))
                setattr(self, attribute, made[name])
        if hasattr(self, "beta1s"):
            beta = self.param_groups[-1]["betas"][0]
            name = f"beta1_group_{len(self.beta1s)}"
            self.beta1s.append(Parameter(Tensor(beta, mindspore.float32), name=name))
        if taken or any(counts):
            object.__setattr__(self, "_steps_taken", [*counts, *[0] * len(new)])
        return None

    def _first(self, name, parameters):
        """The numbers that parameters of a new group begin with: a step size, or a product."""
        value = float(self.lrs[-1]) if name == "eta" else 1.0
        return [
            Parameter(Tensor(value, mindspore.float32), name=f"{name}.{parameter.name}")
            for parameter in parameters
        ]

    def zero_grad(self, set_to_none=True):
        """Clear the gradients at the parameters."""
        for parameter in self.parameters:
            old = getattr(parameter, "grad", None)
            parameter.grad = None if set_to_none or old is None else ops.zeros_like(old)

    if uses("gradients at parameters"):

        def step(self, closure=None):
            """A step with the gradients at the parameters, for code that knows no type of this."""
            loss = None if closure is None else closure()
            found = [getattr(parameter, "grad", None) for parameter in self.parameters]
            self(mindspore.mutable(with_zeros(self.parameters, found)))
            return loss

    if uses("weights without gradients") or uses("record") or uses("start_recording"):

        def __call__(self, gradients):
            recorded = uses("record") or uses("start_recording")
            if recorded:
                from_tensors(self.parameters)
            done = apply_to_reached(self, gradients, super().__call__)
            if recorded:
                to_tensors(self.parameters)
            return done

    def construct(self, gradients):
        ops.assign_add(self.state_step, 1.0)
        for number, group in enumerate(self.param_groups):
            lr = self.lrs[number]
            if isinstance(group.get("lr"), float):
                lr = ops.cast(group.get("lr"), mindspore.float32)
            start, end = self.group_start_id[number], self.group_start_id[number + 1]
            settings = tuple([group.get(name) for name in self.settings])
            # A plain tuple would be taken for constants where this itself is not compiled.
            own = mindspore.mutable(gradients[start:end])
            if group.get("maximize"):
                own = self.hyper_map(_negative, own)
            self.update(own, number, lr, *settings)
        return True
