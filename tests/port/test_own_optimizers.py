"""Optimizers that a program writes itself, and what their updates are made of."""

from __future__ import annotations

from tests.port.test_train_step import lines, ported


def test_the_base_class_finds_gradients_and_state(port) -> None:
    result = port(
        """
        import torch

        class Plain(torch.optim.Optimizer):
            def __init__(self, params, lr):
                super().__init__(params, dict(lr=lr))

            @torch.no_grad()
            def step(self):
                for group in self.param_groups:
                    for p in group["params"]:
                        if p.grad is None:
                            continue
                        state = self.state[p]
                        if "mean" not in state:
                            state["mean"] = torch.zeros_like(p)
                        mean = state["mean"]
                        mean.mul_(0.9).add_(p.grad)
                        p.add_(mean, alpha=-group["lr"])

        def train(net: torch.nn.Module, x: torch.Tensor):
            optimizer = Plain(net.parameters(), 0.1)
            for _ in range(2):
                optimizer.zero_grad()
                loss = net(x).sum()
                loss.backward()
                optimizer.step()
        """
    )
    assert not result.findings
    found = lines(result.text)
    assert "class Plain(helpers.Optimizer):" in found
    assert "state = self.state[p]" in found
    # The dict of the state must see the new value, and so must the network.
    assert "helpers.set_value(mean, mean.mul(0.9).add(p.grad))" in found
    assert 'ops.assign(p, p.add(mean, alpha=-group["lr"]))' in found
    assert "optimizer(gradients.values)" in found


def test_step_over_that_of_a_library_optimizer_is_reported(port) -> None:
    result = port(
        """
        import torch

        class Noisy(torch.optim.SGD):
            def step(self, closure=None):
                return super().step(closure)
        """
    )
    assert any(f.code == "MS408" and "step()" in f.message for f in result.findings)


def test_a_change_of_a_kept_tensor_inside_an_expression_gets_a_line_in_front(port) -> None:
    text, findings = ported(
        port,
        """
        def step(state, grad: torch.Tensor):
            square = state["square"]
            return grad / square.add_(1e-8).sqrt()
        """,
    )
    assert findings == []
    changed = "    helpers.set_value(square, square.add(1e-8))\n"
    assert f"{changed}    return grad / square.sqrt()\n" in text


def test_out_is_a_change_in_place(port) -> None:
    text, findings = ported(
        port,
        """
        def step(state, a: torch.Tensor, b: torch.Tensor):
            largest = state["largest"]
            torch.max(largest, a, out=largest)
            torch.mul(a, b, out=a)
            return a
        """,
    )
    assert not findings
    assert "helpers.set_value(largest, ops.maximum(largest, a))" in text
    assert "a = ops.mul(a, b)" in text


def test_the_number_may_stand_in_front_as_in_old_torch(port) -> None:
    text, findings = ported(
        port,
        """
        def step(x: torch.Tensor, y: torch.Tensor, rate: float):
            x.add_(-rate, y)
            x.addcmul_(rate, y, y)
            return x
        """,
    )
    assert not findings
    assert "x = x.add(y, alpha=-rate)" in text
    assert "x = ops.addcmul(x, y, y, value=rate)" in text


def test_each_fold_has_a_step_of_its_own(port) -> None:
    text, findings = ported(
        port,
        """
        def main(loaders: list[DataLoader]):
            for loader in loaders:
                model = nn.Linear(2, 2)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for epoch in range(2):
                    for x, y in loader:
                        loss = F.cross_entropy(model(x), y)
                        optimizer.zero_grad()
                        loss.backward()
                        optimizer.step()
        """,
    )
    assert not findings
    found = lines(text)
    made = found.index("optimizer = helpers.SGD(model.trainable_params(), lr=0.1)")
    assert found[made + 1 : made + 2] == ["def forward_step(x, y):"]
    assert found.index("for epoch in range(2):") > made
