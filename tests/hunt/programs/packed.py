# %% [20] the packed data by index
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

def run():
    x = data(2, 3, 2)
    packed = pack_padded_sequence(x, [3, 2], batch_first=True)
    return packed[0], packed.data

# %% [20] batch_sizes
from torch.nn.utils.rnn import pack_padded_sequence

def run():
    packed = pack_padded_sequence(data(3, 2, 2), [3, 1])
    return packed.batch_sizes, packed.data.shape

# %% [20] targets packed for the caption loss
from torch.nn.utils.rnn import pack_padded_sequence

def run():
    captions = torch.tensor([[1, 2, 3, 4], [2, 3, 0, 0]])
    lengths = [4, 2]
    scores = data(2, 4, 5)
    targets = pack_padded_sequence(captions, lengths, batch_first=True)[0]
    s = pack_padded_sequence(scores, lengths, batch_first=True)[0]
    return F.cross_entropy(s, targets), targets

# %% [20] .data of packed scores and targets
from torch.nn.utils.rnn import pack_padded_sequence

def run():
    captions = torch.tensor([[1, 2, 3, 4], [2, 3, 0, 0]])
    s = pack_padded_sequence(data(2, 4, 5), [4, 2], batch_first=True).data
    t = pack_padded_sequence(captions, [4, 2], batch_first=True).data
    return F.cross_entropy(s, t)

# %% [20] four-way unpacking
from torch.nn.utils.rnn import pack_padded_sequence

def run():
    d, sizes, sidx, uidx = pack_padded_sequence(data(2, 3, 2), torch.tensor([2, 3]), batch_first=True, enforce_sorted=False)
    return d, sizes, sidx, uidx

# %% [20] through an LSTM and back
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

def run():
    rnn = fill(nn.LSTM(2, 3, batch_first=True))
    packed = pack_padded_sequence(data(2, 4, 2), [4, 2], batch_first=True)
    out, (h, c) = rnn(packed)
    padded, lengths = pad_packed_sequence(out, batch_first=True)
    return padded, lengths, h, c

# %% [20] GRU, unsorted, time first
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

def run():
    rnn = fill(nn.GRU(2, 3))
    packed = pack_padded_sequence(data(4, 2, 2), torch.tensor([2, 4]), enforce_sorted=False)
    out, h = rnn(packed)
    padded, lengths = pad_packed_sequence(out)
    return padded, lengths, h

# %% [20] a linear layer on the data of the output
from torch.nn.utils.rnn import pack_padded_sequence

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 3, batch_first=True)
        self.fc = nn.Linear(3, 4)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        hiddens, _ = self.rnn(packed)
        return self.fc(hiddens[0])

def run():
    return fill(Net())(data(2, 4, 2), [4, 2])

# %% [20] PackedSequence rebuilt with new data
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

def run():
    p = pack_padded_sequence(data(2, 3, 2), [3, 2], batch_first=True)
    q = PackedSequence(p.data * 2, p.batch_sizes)
    return pad_packed_sequence(q, batch_first=True)

# %% [20] pad_sequence and pack_sequence
from torch.nn.utils.rnn import pad_sequence, pack_sequence

def run():
    seqs = [data(3, 2), data(1, 2)]
    return pad_sequence(seqs), pad_sequence(seqs, batch_first=True, padding_value=-1), pack_sequence(seqs).data

# %% [20] isinstance of PackedSequence
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

def is_packed(x):
    return isinstance(x, PackedSequence)

def run():
    return is_packed(pack_padded_sequence(data(2, 2, 2), [2, 1], batch_first=True)), is_packed(data(2))

# %% [25] LSTM states in a list
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(2, 2), nn.LSTMCell(2, 2)])

    def forward(self, xs):
        states = [[torch.zeros(1, 2), torch.zeros(1, 2)] for _ in self.cells]
        for t in range(xs.size(0)):
            h = xs[t]
            for i, cell in enumerate(self.cells):
                states[i] = cell(h, states[i])
                h = states[i][0]
        return h

def run():
    return fill(Net())(data(3, 1, 2))

# %% [25] the hidden state as a list of two
def run():
    rnn = fill(nn.LSTM(2, 3))
    h = [torch.zeros(1, 1, 3), torch.zeros(1, 1, 3)]
    out, h = rnn(data(4, 1, 2), h)
    return out, h[0], h[1]

# %% [25] truncated backpropagation with detach
def repackage(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage(v) for v in h)

def run():
    rnn, head = fill(nn.LSTM(2, 3)), fill(nn.Linear(3, 1), seed=2)
    opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    h = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
    log = []
    for i in range(3):
        h = repackage(h)
        opt.zero_grad()
        out, h = rnn(data(4, 1, 2, seed=i), h)
        loss = head(out).pow(2).mean()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log

# %% [25] states for every layer from init_hidden
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 3, 2)
        self.fc = nn.Linear(3, 2)

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(2, bsz, 3), weight.new_zeros(2, bsz, 3))

    def forward(self, x, hidden):
        out, hidden = self.rnn(x, hidden)
        return self.fc(out.view(-1, 3)), hidden

def run():
    m = fill(Net())
    y, h = m(data(4, 2, 2), m.init_hidden(2))
    return y, h[0]

# %% [0] RNN, bidirectional GRU
def run():
    a, b = fill(nn.RNN(2, 3, nonlinearity="relu")), fill(nn.GRU(2, 3, 2, bidirectional=True, batch_first=True))
    return a(data(4, 1, 2)), b(data(2, 4, 2))

# %% [20] a packed sequence made before the step
def run():
    rnn = fill(nn.LSTM(3, 4, 1, batch_first=True, bidirectional=True))
    x = data(3, 5, 3)
    lens = torch.tensor([5, 2, 4])
    p = nn.utils.rnn.pack_padded_sequence(x, lens, batch_first=True, enforce_sorted=False)
    o, (h, c) = rnn(p)
    y, n = nn.utils.rnn.pad_packed_sequence(o, batch_first=True)
    last = torch.cat([h[-2], h[-1]], 1)
    y.sum().backward()
    return y, n, last, rnn.weight_ih_l0.grad, p.batch_sizes

# %% [20] a batch that is a named tuple
from collections import namedtuple
Batch = namedtuple("Batch", ("x", "y"))

def run():
    net = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    log = []
    for i in range(2):
        batch = Batch(data(4, 3, seed=i), labels(4, 2, seed=i))
        loss = F.cross_entropy(net(batch.x), batch.y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net.weight
