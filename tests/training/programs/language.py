"""A recurrent language model: state carried from batch to batch, tied weights, updates by hand."""

# ruff: noqa - in the style of their authors

import numpy as np
import torch
import torch.nn as nn
from shared import fill


class RNNModel(nn.Module):
    def __init__(self, ntoken, nhid, nlayers):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, nhid)
        self.rnn = nn.LSTM(nhid, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        self.decoder.weight = self.encoder.weight

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output).view(-1, 12), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(2, bsz, 6), weight.new_zeros(2, bsz, 6))


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


words = torch.from_numpy(np.random.default_rng(0).integers(0, 12, 120)).view(4, -1).t().contiguous()
model = fill(RNNModel(12, 6, 2), 3)  # filled in the order of the parameters
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    hidden = model.init_hidden(4)
    for i in range(0, words.size(0) - 1, 5):
        seq_len = min(5, len(words) - 1 - i)
        data, targets = words[i : i + seq_len], words[i + 1 : i + 1 + seq_len].reshape(-1)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-2.0)
        print("%.6f %.6f" % (loss.item(), hidden[1].sum().item()))
print([name for name, _ in model.named_parameters()])
