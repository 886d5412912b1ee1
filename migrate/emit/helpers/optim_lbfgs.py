"""torch.optim.LBFGS, with steps of a fixed length or by the strong Wolfe conditions."""

import numpy as np
from mindspore import Tensor, ops

from migrate.emit.helpers.optim_line_search import wolfe_step
from migrate.emit.helpers.optim_own import Optimizer
from migrate.emit.helpers.train_leaves import from_tensors, to_tensors


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last `history_size` changes of weights and gradients. It calls
    its closure as often as it needs gradients, which the closure leaves at the parameters.
    """

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-07,
        tolerance_change=1e-09,
        history_size=100,
        line_search_fn=None,
    ):
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        self.searches = line_search_fn is not None
        super().__init__(params, {"lr": float(lr)})
        self.max_iter, self.history_size = max_iter, history_size
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerances = tolerance_grad, tolerance_change
        self.rounds = 0
        self.history = []  # (change of the weights, change of the gradient, 1 / their product)
        self.scale = 1.0
        self.direction = self.size = self.earlier = None

    def step(self, closure):
        """Up to max_iter steps; the loss before the first of them."""
        start = closure()
        loss, gradient = float(start), self._gradient()
        least, change = self.tolerances
        if np.abs(gradient).max() <= least:
            return start
        evaluations = 1
        for iteration in range(1, self.max_iter + 1):
            self.rounds += 1
            self._turn(gradient)
            self.earlier, before = gradient, loss
            rate = float(self.param_groups[0]["lr"])
            first = min(1.0, 1.0 / float(np.abs(gradient).sum())) * rate
            self.size = np.float32(first if self.rounds == 1 else rate)
            slope = float(gradient @ self.direction)
            if slope > -change:
                break
            if self.searches:
                point = (0.0, loss, gradient, slope)
                self.size, loss, gradient, used = self._search(closure, point, change)
                evaluations += used
                self._move(self.size * self.direction)
            else:
                self._move(self.size * self.direction)
                if iteration == self.max_iter:
                    break
                loss, gradient = float(closure()), self._gradient()
                evaluations += 1
            if (
                iteration == self.max_iter
                or evaluations >= self.max_eval
                or np.abs(gradient).max() <= least
                or np.abs(self.size * self.direction).max() <= change
                or abs(loss - before) < change
            ):
                break
        return start

    def _search(self, closure, start, change):
        """The length of the step along the direction, and what was found there."""
        before = [parameter.copy() for parameter in self.parameters]

        def evaluate(length):
            self._move(np.float32(length) * self.direction)
            loss, gradient = float(closure()), self._gradient()
            from_tensors(self.parameters)
            for parameter, value in zip(self.parameters, before, strict=True):
                ops.assign(parameter, value)
            to_tensors(self.parameters)
            return length, loss, gradient, float(gradient @ self.direction)

        reach = float(np.abs(self.direction).max())
        found = wolfe_step(evaluate, float(self.size), start, reach, change)
        return (np.float32(found[0]), *found[1:])

    def _turn(self, gradient):
        """The direction: the gradient through the inverse Hessian that the history stands for."""
        if self.rounds == 1:
            self.direction = -gradient
            return
        moved, changed = self.direction * self.size, gradient - self.earlier
        product = moved @ changed
        if product > 1e-10:
            self.history = [*self.history, (moved, changed, 1 / product)][-self.history_size :]
            self.scale = product / (changed @ changed)
        direction, factors = -gradient, []
        for moved, changed, inverse in reversed(self.history):
            factors.append(moved @ direction * inverse)
            direction = direction - factors[-1] * changed
        direction = direction * self.scale
        for (moved, changed, inverse), factor in zip(self.history, reversed(factors), strict=True):
            direction = direction + moved * (factor - changed @ direction * inverse)
        self.direction = direction

    def _gradient(self):
        parts = [
            np.zeros(p.size, "float32") if p.grad is None else p.grad.asnumpy().reshape(-1)
            for p in self.parameters
        ]
        return np.concatenate(parts)

    def _move(self, step):
        start = 0
        from_tensors(self.parameters)
        for parameter in self.parameters:
            part = step[start : start + parameter.size].reshape(parameter.shape)
            ops.assign(parameter, parameter + Tensor(part, parameter.dtype))
            start += parameter.size
        to_tensors(self.parameters)
