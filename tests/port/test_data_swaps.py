"""The copy of weights that are put aside, swapped for others and put back."""

from __future__ import annotations

SOURCE = """
import torch


class EMA:
    def apply_shadow(self):
        for name, param in self.model.named_parameters():
            self.backup[name] = param.data
            param.data = self.shadow[name]

    def look(self):
        for name, param in self.model.named_parameters():
            self.seen[name] = param.data
"""


def test_what_is_put_aside_is_a_copy(port) -> None:
    text = port(SOURCE).text
    assert "self.backup[name] = param.copy()" in text
    assert "self.seen[name] = param.copy()" not in text


def test_a_decorated_update_assigns_to_the_parameter_itself(port) -> None:
    text = port(
        """
        import torch

        @torch.no_grad()
        def update(student: torch.nn.Module, teacher: torch.nn.Module, m):
            for s, t in zip(student.parameters(), teacher.parameters()):
                t.data = t.data * m + s.data * (1.0 - m)
        """
    ).text
    assert "ops.assign(t, ops.stop_gradient(t) * m" in text
    assert "stop_gradients" not in text
