"""A feature mixer in torch: norms, odd activations, a gate, and arithmetic in forward itself."""

import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.inp = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.act = nn.GELU()
        self.mix = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.gate = nn.Sequential(nn.Linear(width, width), nn.Softmax(dim=-1))
        self.selu = nn.SELU()
        self.prelu = nn.PReLU(width)
        self.bn = nn.BatchNorm1d(width)
        self.swish = nn.SiLU()
        self.conv = nn.Conv1d(1, 4, 3, padding=1)
        self.out = nn.Linear(4 * width, 5)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        h = self.act(self.norm(self.inp(x)))
        h = h @ self.mix.T
        h = h * self.gate(h)
        h = self.prelu(self.selu(4 * h))
        h = (h - h.mean(1, keepdim=True)) / (h.std(1, keepdim=True) + 0.1)
        h = self.swish(self.bn(h.clamp(-1.0, 1.0)))
        h = self.conv(h.unsqueeze(1)).flatten(1)
        return {"logits": self.out(h), "features": h}
