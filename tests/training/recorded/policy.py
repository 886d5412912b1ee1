"""Log-probabilities kept by one function and differentiated in another; a loss kept in an
attribute, the forward pass in a method of its own; a target without gradients.
"""

# ruff: noqa - in the style of their authors

import torch
import torch.nn as nn
import torch.nn.functional as F
from shared import fill, toy
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(12, 16)
        self.drop = nn.Dropout(0.0)
        self.action_head = nn.Linear(16, 4)
        self.value_head = nn.Linear(16, 1)
        self.saved = []

    def forward(self, x):
        x = self.drop(F.relu(self.hidden(x)))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


policy = fill(Policy())
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
states, rewards = toy(12)


def select_action(state):
    probs, value = policy(state)
    m = Categorical(probs)
    action = probs.argmax()
    policy.saved.append((m.log_prob(action), value))


def finish_episode(returns):
    losses = []
    for (log_prob, value), R in zip(policy.saved, returns):
        with torch.no_grad():
            advantage = R - value
        losses.append(-log_prob * advantage.item() + F.smooth_l1_loss(value, R.view(1)))
    optimizer.zero_grad()
    loss = torch.stack([l.sum() for l in losses]).sum()
    loss.backward()
    optimizer.step()
    del policy.saved[:]
    return loss.item()


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)

    def forward(self, x):
        self.probs, _ = self.net(x)

    def backward(self, y):
        self.loss = F.nll_loss(torch.log(self.probs), y)
        self.loss.backward()

    def optimize(self, x, y):
        self.forward(x)
        self.optimizer.zero_grad()
        self.backward(y)
        self.optimizer.step()


for episode in range(4):
    for state in states:
        select_action(state)
    print("%.5f" % finish_episode(rewards.float()))
trainer = Trainer(fill(Policy(), 3))
trainer.net.train()
for step in range(5):
    trainer.optimize(states, rewards)
    print("%.5f" % trainer.loss.item())
