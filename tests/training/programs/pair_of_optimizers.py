"""One backward pass, two optimizers; old tensor types kept in a variable; a part of a tensor
assigned inside the step; group norms over maps of two sizes.
"""

# ruff: noqa - in the style of their authors

import torch
from shared import fill, toy
from torch import nn
from torch.autograd import Variable

cuda = True if torch.cuda.is_available() else False
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.SiLU())
        self.down = nn.Conv2d(4, 8, 2, 2)
        self.second = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(4, 8), nn.SiLU())

    def forward(self, x):
        return self.second(self.down(self.first(x))).mean(dim=(2, 3))


encoder, decoder = fill(Encoder(), 1), fill(nn.GRUCell(8, 8), 2)
encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=0.02)
decoder_optimizer = torch.optim.SGD(decoder.parameters(), lr=0.2, momentum=0.9)
x, y = toy(8, (1, 6, 6))
index = torch.LongTensor(range(4))


def train(images, target):
    images = Variable(images.type(Tensor))
    outputs = Variable(Tensor(images.size(0), 3, 8).fill_(0.0))
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    state = encoder(images)
    for i in range(3):
        state = decoder(state, state)
        outputs[:, i] = state
    if outputs.type() != target.type():
        target = target.type_as(outputs)
    loss = ((outputs.mean(dim=(1, 2)) - target) ** 2).mean()
    loss.backward()
    nn.utils.clip_grad_norm_(decoder.parameters(), 0.5)
    encoder_optimizer.step()
    decoder_optimizer.step()
    return loss.item()


for step in range(8):
    half = index if step % 2 == 0 else index + 4
    print("%.6f" % train(x[half], y[half]))
