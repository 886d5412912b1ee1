"""A step without a loop of its own: data made by items, a target network that follows softly."""

# ruff: noqa - in the style of their authors

import numpy as np
import torch
from shared import fill
from torch import nn

policy = fill(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)))
target = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target.load_state_dict(policy.state_dict())
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-2)
criterion = nn.SmoothL1Loss()


def optimize(state, action, reward, follows, alive):
    value = policy(state).gather(1, action)
    ahead = torch.zeros(state.size(0))
    with torch.no_grad():
        ahead[alive] = target(follows[alive]).max(1).values
    expected = ahead * 0.9 + reward
    loss = criterion(value, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy.parameters(), 0.1)
    optimizer.step()
    return loss.item()


rng = np.random.default_rng(0)
for step in range(8):
    state = torch.from_numpy(rng.standard_normal((8, 4)).astype("float32"))
    follows = torch.from_numpy(rng.standard_normal((8, 4)).astype("float32"))
    action = torch.from_numpy(rng.integers(0, 2, (8, 1)))
    reward = torch.from_numpy(rng.standard_normal(8).astype("float32"))
    alive = torch.from_numpy(rng.random(8) > 0.3)
    print("%.6f" % optimize(state, action, reward, follows, alive))
    ours, theirs = policy.state_dict(), target.state_dict()
    for key in ours:
        theirs[key] = ours[key] * 0.2 + theirs[key] * 0.8
    target.load_state_dict(theirs)
