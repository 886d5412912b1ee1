# %% [0] ModuleList with append, extend, insert
def run():
    l = nn.ModuleList()
    l.append(nn.Linear(2, 2))
    l.extend([nn.Linear(2, 2), nn.ReLU()])
    l.insert(0, nn.Tanh())
    fill(l)
    x = data(1, 2)
    for m in l:
        x = m(x)
    return x, len(l), [n for n, _ in l.named_parameters()]

# %% [0] ModuleDict
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.ReLU()})
        self.d["c"] = nn.Linear(2, 1)

    def forward(self, x):
        for k in ("a", "b", "c"):
            x = self.d[k](x)
        return x

def run():
    m = fill(Net())
    return m(data(1, 2)), list(m.d.keys()), "a" in m.d, [n for n, _ in m.named_parameters()]

# %% [0] ParameterList and ParameterDict
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ps = nn.ParameterList([nn.Parameter(torch.ones(2) * i) for i in range(3)])
        self.pd = nn.ParameterDict({"s": nn.Parameter(torch.full((1,), 2.0))})

    def forward(self, x):
        for p in self.ps:
            x = x + p
        return x * self.pd["s"]

def run():
    m = Net()
    return m(data(2)), [n for n, _ in m.named_parameters()], len(m.ps)

# %% [0] Sequential by OrderedDict, slices, indices
from collections import OrderedDict

def run():
    m = fill(nn.Sequential(OrderedDict([("fc", nn.Linear(3, 3)), ("act", nn.ReLU()), ("out", nn.Linear(3, 1))])))
    return m(data(2, 3)), m[:2](data(2, 3)), m.fc.weight.shape, len(m), m[-1].weight.shape, [n for n, _ in m.named_children()]

# %% [0] a Sequential built from a list
def layers(cfg):
    out = []
    c = 1
    for v in cfg:
        if v == "M":
            out += [nn.MaxPool2d(2, 2)]
        else:
            out += [nn.Conv2d(c, v, 3, padding=1), nn.ReLU(inplace=True)]
            c = v
    return nn.Sequential(*out)

def run():
    m = fill(layers([2, "M", 3, "M"]))
    return m(data(1, 1, 8, 8)), len(m)

# %% [0] shared layers
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(4, 3)
        self.out = nn.Linear(3, 4, bias=False)
        self.out.weight = self.emb.weight

    def forward(self, x):
        return self.out(self.emb(x))

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        F.cross_entropy(m(torch.tensor([0, 1, 2])), torch.tensor([1, 2, 3])).backward()
        opt.step()
    return m.emb.weight, m.out.weight, len(list(m.parameters()))

# %% [0] a list of modules that are not registered
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        for h in self.hidden:
            x = x
        return self.fc(x)

def run():
    m = fill(Net())
    return m(data(1, 2)), len(list(m.parameters()))

# %% [0] add_module and setattr
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(3):
            self.add_module(f"l{i}", nn.Linear(2, 2))
        setattr(self, "head", nn.Linear(2, 1))

    def forward(self, x):
        for i in range(3):
            x = getattr(self, f"l{i}")(x)
        return self.head(x)

def run():
    m = fill(Net())
    return m(data(1, 2)), [n for n, _ in m.named_parameters()]

# %% [0] deepcopied layers
import copy

class Net(nn.Module):
    def __init__(self, layer, n):
        super().__init__()
        self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(n)])

    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x

def run():
    m = fill(Net(nn.Linear(2, 2), 3))
    return m(data(1, 2)), len(list(m.parameters())), [n for n, _ in m.named_parameters()]

# %% [0] ModuleList with a slice and negative index
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(4))

    def forward(self, x):
        for l in self.layers[:-1]:
            x = torch.relu(l(x))
        return self.layers[-1](x)

def run():
    m = fill(Net())
    return m(data(1, 2)), len(m.layers[1:])

# %% [0] nested containers
def run():
    m = fill(nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.ModuleList([nn.Linear(2, 1)])[0]))
    return m(data(1, 2)), [n for n, _ in m.named_parameters()], [n for n, _ in m.named_modules()]

# %% [0] parameters as tensors in a list
def run():
    ws = [data(2, 2, seed=i).requires_grad_() for i in range(2)]
    opt = torch.optim.SGD(ws, lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        (data(1, 2) @ ws[0] @ ws[1]).sum().backward()
        opt.step()
    return [w.detach() for w in ws]

# %% [0] attention by hand
class MHA(nn.Module):
    def __init__(self, d=4, h=2):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-2, -1)) * (d // self.h) ** -0.5
        return self.out((a.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))

def run():
    m = fill(MHA())
    y = m(data(2, 3, 4))
    y.pow(2).mean().backward()
    return y.detach(), m.qkv.weight.grad

# %% [0] nn.MultiheadAttention with weights
def run():
    m = fill(nn.MultiheadAttention(4, 2, batch_first=True))
    m.eval()
    x = data(2, 3, 4)
    y, w = m(x, x, x)
    return y, w

# %% [0] nn.TransformerEncoder
def run():
    layer = nn.TransformerEncoderLayer(4, 2, dim_feedforward=8, dropout=0.0, batch_first=True)
    m = fill(nn.TransformerEncoder(layer, 2))
    m.train()
    return m(data(2, 3, 4)), len(list(m.parameters()))

# %% [0] a residual network
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c1 = nn.Conv2d(c, c, 3, 1, 1, bias=False)
        self.b1 = nn.BatchNorm2d(c)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.b1(self.c1(x))
        out += x
        return self.relu(out)

def run():
    m = fill(nn.Sequential(Block(2), Block(2)))
    m.train()
    y = m(data(2, 2, 4, 4))
    y.mean().backward()
    return y.detach(), m[0].c1.weight.grad

# %% [0] a U-Net with skip connections
class U(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = nn.Conv2d(1, 2, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.m = nn.Conv2d(2, 4, 3, padding=1)
        self.up = nn.ConvTranspose2d(4, 2, 2, stride=2)
        self.o = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        s = F.relu(self.d(x))
        x = F.relu(self.m(self.pool(s)))
        return self.o(torch.cat([s, self.up(x)], dim=1))

def run():
    return fill(U())(data(1, 1, 8, 8))

# %% [0] a VAE
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(4, 3)
        self.mu, self.lv = nn.Linear(3, 2), nn.Linear(3, 2)
        self.dec = nn.Linear(2, 4)

    def forward(self, x, eps):
        h = torch.relu(self.enc(x))
        mu, lv = self.mu(h), self.lv(h)
        z = mu + eps * torch.exp(0.5 * lv)
        return self.dec(z), mu, lv

def run():
    m = fill(VAE())
    opt = torch.optim.Adam(m.parameters(), lr=0.01)
    log = []
    for i in range(3):
        x = data(4, 4, seed=i)
        r, mu, lv = m(x, data(4, 2, seed=i))
        rec = F.mse_loss(r, x, reduction="sum")
        kld = -0.5 * torch.sum(1 + lv - mu.pow(2) - lv.exp())
        loss = rec + kld
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((rec.item(), kld.item()))
    return log

# %% [0] word embeddings with a bag
def run():
    e = fill(nn.EmbeddingBag(5, 3, mode="mean"))
    return e(torch.tensor([0, 1, 4]), torch.tensor([0, 2]))

# %% [0] a convolution with groups and dilation
def run():
    return fill(nn.Conv2d(4, 4, 3, groups=4, dilation=2))(data(1, 4, 6, 6)), fill(nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1))(data(1, 2, 4, 4))

# %% [0] pooling layers
def run():
    x = data(1, 2, 7, 7)
    return nn.MaxPool2d(3, 2, 1)(x), nn.AvgPool2d(3, 2, 1)(x), nn.MaxPool2d(2, ceil_mode=True)(x), nn.AvgPool2d(2, ceil_mode=True)(x), nn.AdaptiveAvgPool2d(3)(x), F.max_pool2d(x, 3, 1, 1)

# %% [0] pixel shuffle, upsample, unfold, fold
def run():
    x = data(1, 4, 4, 4)
    return nn.PixelShuffle(2)(x), nn.Upsample(scale_factor=2, mode="nearest")(x), F.unfold(x, 2, stride=2), nn.Flatten(2)(x), nn.PixelUnshuffle(2)(x)


# %% [21] a list sorted, cut and shuffled between the pieces of a loss
import random


def run():
    net = fill(nn.Linear(3, 4))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    log = []
    for i in range(3):
        random.seed(i)
        out = net(data(5, 3, seed=i))
        order = [3, 1, 2, 0]
        random.shuffle(order)
        parts = [out[:, c].mean() * (k + 1) for k, c in enumerate(order)]
        parts.reverse()
        del parts[0]
        loss = sum((j + 1) * p**2 for j, p in enumerate(parts))
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net.weight


# %% [21] soft DTW over a table of lists made of None
def soft_dtw(x, y, gamma=1.0):
    n, m = x.size(0), y.size(0)
    D = (x[:, None] - y[None]).pow(2).sum(-1)
    R = [[None] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        R[i][0] = torch.tensor(1e8)
    for j in range(m + 1):
        R[0][j] = torch.tensor(1e8)
    R[0][0] = torch.tensor(0.0)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            prev = torch.stack([R[i - 1][j], R[i][j - 1], R[i - 1][j - 1]])
            R[i][j] = D[i - 1, j - 1] - gamma * torch.logsumexp(-prev / gamma, 0)
    return R[n][m]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)

    def forward(self, x, y):
        return soft_dtw(self.lin(x), y, 0.5)


def run():
    net = fill(Net())
    loss = net(data(3, 2), data(4, 2, seed=4))
    loss.backward()
    return loss.item(), net.lin.weight.grad
