"""Sequences of different lengths, padded by collate_fn and packed for a recurrent layer; layers
looked up by a name that a test has narrowed down.
"""

# ruff: noqa - in the style of their authors

import io

import torch
from shared import fill, toy
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader


def collate_fn(batch):
    batch.sort(key=lambda b: len(b[0]), reverse=True)
    texts, labels = zip(*batch)
    lengths = torch.tensor([len(t) for t in texts])
    return pad_sequence(texts, batch_first=True), lengths, torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, kind):
        super().__init__()
        if kind in ["LSTM", "GRU"]:
            self.rnn = getattr(nn, kind)(6, 5, batch_first=True)
        self.fc = nn.Linear(10, 4)

    def forward(self, text, lengths):
        packed = pack_padded_sequence(text, lengths.cpu(), batch_first=True)
        packed, hidden = self.rnn(packed)
        output, _ = pad_packed_sequence(packed, batch_first=True)
        return self.fc(torch.cat((hidden[-1], output.sum(1)), dim=1))


rows, labels = toy(16, (5, 6))
data = [(rows[i][: 2 + i % 4], int(labels[i])) for i in range(16)]
loader = DataLoader(data, batch_size=4, collate_fn=collate_fn)
model = fill(Classifier("GRU"))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
model.train()
for epoch in range(2):
    for text, lengths, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(text, lengths), target)
        loss.backward()
        optimizer.step()
        print("%.6f" % loss.item())
buffer = io.BytesIO()
torch.save(model.state_dict(), buffer)
buffer.seek(0)
model.load_state_dict(torch.load(buffer))
with torch.no_grad():
    print("%.6f" % nn.functional.cross_entropy(model(text, lengths), target).item())
