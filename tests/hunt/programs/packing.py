# %% [20] a classifier over packed text
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 4, padding_idx=0)
        self.rnn = nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(6, 2)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.fc(torch.cat((h[-2], h[-1]), dim=1)), out

def run():
    ids = torch.tensor([[1, 2, 0, 0], [3, 4, 5, 6], [7, 8, 9, 0]])
    return fill(Net())(ids, torch.tensor([2, 4, 3]))

# %% [20] lengths sorted by hand and restored
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

def run():
    rnn = fill(nn.GRU(2, 3, batch_first=True))
    x, lengths = data(3, 4, 2), torch.tensor([2, 4, 1])
    lengths, order = lengths.sort(0, descending=True)
    packed = pack_padded_sequence(x[order], lengths.tolist(), batch_first=True)
    out, h = rnn(packed)
    out, lens = pad_packed_sequence(out, batch_first=True)
    _, back = order.sort(0)
    return out[back], h[:, back], lens

# %% [20] the last output by lengths
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

def run():
    rnn = fill(nn.LSTM(2, 3))
    lens = torch.tensor([4, 3, 1])
    out, _ = rnn(pack_padded_sequence(data(4, 3, 2), lens))
    padded, l = pad_packed_sequence(out)
    idx = (l - 1).view(1, -1, 1).expand(1, -1, 3)
    return padded.gather(0, idx).squeeze(0), padded[l - 1, torch.arange(3)]

# %% [20] total_length and padding_value
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

def run():
    p = pack_padded_sequence(data(2, 3, 2), [3, 1], batch_first=True)
    a, l = pad_packed_sequence(p, batch_first=True, total_length=5)
    b, _ = pad_packed_sequence(p, batch_first=True, padding_value=-1.0)
    return a, b, l

# %% [20] pack_sequence and unpack
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, pad_sequence

def run():
    seqs = [data(3, 2), data(2, 2, seed=2), data(1, 2, seed=3)]
    p = pack_sequence(seqs)
    rnn = fill(nn.GRU(2, 2))
    out, h = rnn(p)
    y, lens = pad_packed_sequence(out)
    return p.data, p.batch_sizes, y, lens, h, [y[: lens[i], i] for i in range(3)]

# %% [20] dropout and a layer on the packed data
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

def run():
    rnn, fc = fill(nn.LSTM(2, 3, batch_first=True)), fill(nn.Linear(3, 2), 4)
    p = pack_padded_sequence(data(2, 4, 2), [4, 2], batch_first=True)
    out, _ = rnn(p)
    logits = fc(out.data)
    again = PackedSequence(logits, out.batch_sizes, out.sorted_indices, out.unsorted_indices)
    return logits, pad_packed_sequence(again, batch_first=True)[0], out.data.shape

# %% [20] initial states with packed input
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

def run():
    rnn = fill(nn.LSTM(2, 3, batch_first=True))
    h0, c0 = torch.zeros(1, 2, 3), torch.ones(1, 2, 3)
    p = pack_padded_sequence(data(2, 3, 2), torch.tensor([2, 3]), batch_first=True, enforce_sorted=False)
    out, (h, c) = rnn(p, (h0, c0))
    return pad_packed_sequence(out, batch_first=True)[0], h, c

# %% [20] an encoder and a loss on packed targets
from torch.nn.utils.rnn import pack_padded_sequence

class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 4)
        self.lstm = nn.LSTM(4, 5, batch_first=True)
        self.linear = nn.Linear(5, 8)

    def forward(self, features, captions, lengths):
        e = torch.cat((features.unsqueeze(1), self.embed(captions)), 1)
        packed = pack_padded_sequence(e, lengths, batch_first=True)
        hiddens, _ = self.lstm(packed)
        return self.linear(hiddens[0])

def run():
    dec = fill(Decoder())
    captions = torch.tensor([[1, 2, 3], [4, 5, 0]])
    lengths = [3, 2]
    targets = pack_padded_sequence(captions, lengths, batch_first=True)[0]
    out = dec(data(2, 4), captions, lengths)
    loss = F.cross_entropy(out, targets)
    loss.backward()
    return out, loss.item(), dec.linear.weight.grad

# %% [20] states in a list and a dict
def run():
    rnn = fill(nn.LSTM(2, 3, 2))
    x = data(4, 1, 2)
    hidden = [torch.zeros(2, 1, 3), torch.zeros(2, 1, 3)]
    outs = []
    for t in range(2):
        y, hidden = rnn(x[t : t + 1], hidden)
        hidden = [h.detach() for h in hidden]
        outs.append(y)
    return outs, hidden

# %% [20] repackage_hidden of the word language model
def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    else:
        return tuple(repackage_hidden(v) for v in h)

def run():
    rnn = fill(nn.LSTM(2, 3))
    h = (torch.zeros(1, 2, 3), torch.zeros(1, 2, 3))
    for t in range(2):
        h = repackage_hidden(h)
        y, h = rnn(data(2, 2, 2, seed=t), h)
    return y, h

# %% [20] LSTMCell and GRUCell over time
def run():
    cell = fill(nn.LSTMCell(2, 3))
    x = data(4, 2, 2)
    hx, cx = torch.zeros(2, 3), torch.zeros(2, 3)
    outs = []
    for i in range(x.size(0)):
        hx, cx = cell(x[i], (hx, cx))
        outs.append(hx)
    g = fill(nn.GRUCell(2, 3), 2)
    return torch.stack(outs, dim=0), cx, g(x[0]), fill(nn.RNNCell(2, 3))(x[0], hx)

# %% [20] unbatched recurrent layers and projections
def run():
    a = fill(nn.LSTM(2, 3))(data(4, 2))[0]
    b = fill(nn.GRU(2, 3, batch_first=True))(data(4, 2))[1]
    c = fill(nn.RNN(2, 3, nonlinearity="relu"))(data(4, 1, 2))[0]
    d, (h, _) = fill(nn.LSTM(2, 4, proj_size=2))(data(3, 1, 2))
    return a, b, c, d, h

# %% [20] a mask from packed lengths
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, unpad_sequence, unpack_sequence

def run():
    p = pack_padded_sequence(data(2, 3, 1), [3, 2], batch_first=True)
    x, lens = pad_packed_sequence(p, batch_first=True)
    mask = torch.arange(x.size(1))[None] < lens[:, None]
    return x.masked_fill(~mask.unsqueeze(-1), -1), mask.sum(), unpad_sequence(x, lens, batch_first=True), unpack_sequence(p)
