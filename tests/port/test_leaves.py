"""Tensors made to be trained, networks that call themselves, arrays given to torch.Tensor."""

from __future__ import annotations

from tests.port.test_train_step import ported


def test_a_tensor_that_requires_grad_becomes_a_parameter(port) -> None:
    text, findings = ported(
        port,
        """
        def tune(x: torch.Tensor):
            log_alpha = torch.zeros(1, requires_grad=True)
            optimizer = torch.optim.Adam([log_alpha], lr=0.1)
            for _ in range(3):
                loss = (x * log_alpha.exp()).sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            return torch.ones(2, requires_grad=False)
        """,
    )
    assert not findings
    assert "log_alpha = Parameter(ops.zeros(1), name=" in text
    assert "helpers.value_and_grad(forward_step, None, optimizer.parameters)" in text
    assert "return ops.ones(2)" in text


def test_a_network_that_calls_itself_compiles(port) -> None:
    result = port(
        """
        import torch
        from torch import nn

        class Actor(nn.Module):
            def forward(self, x):
                return x * 2

            def act(self, x):
                return self(x).tanh()

            @torch.no_grad()
            def sample(self, x):
                return self(x)
        """
    )
    assert not result.findings
    assert "return self.construct(x).tanh()" in result.text
    assert "return ops.stop_gradient(self(x))" in result.text  # runs by itself


def test_an_array_is_data(port) -> None:
    text, findings = ported(
        port,
        """
        import numpy as np

        def load(rows):
            array = np.array(rows)
            return torch.Tensor(array)
        """,
    )
    assert not findings
    assert "Tensor(array, mindspore.float32)" in text
