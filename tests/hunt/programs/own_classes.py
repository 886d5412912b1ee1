# %% [24] boxes passed to forward
class Boxes:
    def __init__(self, t):
        self.t = t

    def clip(self):
        return Boxes(self.t.clamp(0, 1))

    def size(self):
        return self.t.shape[0] * 10

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, boxes):
        n = boxes.clip().size()
        return self.fc(boxes.t) * n

def run():
    return fill(Net())(Boxes(data(3, 4)))

# %% [24] an object with view and item
class Item:
    def __init__(self, v):
        self.v = v

    def item(self):
        return self.v + 1

    def view(self, name):
        return f"{name}:{self.v}"

def show(x):
    return x.item(), x.view("a")

def run():
    return show(Item(3))

# %% [24] a list-like class with its own to() and size()
class Batch:
    def __init__(self, xs):
        self.xs = xs

    def to(self, device):
        return Batch([x.to(device) for x in self.xs])

    def size(self, d=0):
        return len(self.xs)

    def __len__(self):
        return len(self.xs)

class Net(nn.Module):
    def forward(self, batch):
        batch = batch.to("cpu")
        return torch.stack(batch.xs).sum(0) / batch.size(0) / len(batch)

def run():
    return Net()(Batch([data(2), data(2, seed=3)]))

# %% [24] a named tuple passed to forward
from collections import namedtuple

Sample = namedtuple("Sample", ["x", "mask"])

class Net(nn.Module):
    def forward(self, s):
        return (s.x * s.mask).sum(1)

def run():
    return Net()(Sample(data(2, 3), torch.ones(2, 3)))

# %% [24] a dataclass passed to forward
from dataclasses import dataclass

@dataclass
class Inputs:
    x: torch.Tensor
    scale: float = 2.0

    def mean(self):
        return self.scale

class Net(nn.Module):
    def forward(self, inputs):
        return inputs.x * inputs.mean()

def run():
    return Net()(Inputs(data(2, 3)))

# %% [24] NestedTensor of DETR
class NestedTensor:
    def __init__(self, tensors, mask):
        self.tensors = tensors
        self.mask = mask

    def decompose(self):
        return self.tensors, self.mask

    def __repr__(self):
        return str(self.tensors.shape[0])

class Net(nn.Module):
    def forward(self, samples):
        src, mask = samples.decompose()
        return src.masked_fill(mask, 0).sum()

def run():
    return Net()(NestedTensor(data(2, 3), torch.tensor([[True, False, False]] * 2))), repr(NestedTensor(data(2), None))

# %% [24] a config object with dim and size
class Config:
    def __init__(self):
        self.dim = 3
        self.size = 2
        self.device = "x"

class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.fc = nn.Linear(cfg.dim, cfg.size)

    def forward(self, x):
        return self.fc(x).view(-1, self.cfg.size)

def run():
    return fill(Net(Config()))(data(2, 3)), Config().device

# %% [24] a graph object with x and edge_index
class Graph:
    def __init__(self, x, edge_index):
        self.x, self.edge_index = x, edge_index

    @property
    def num_nodes(self):
        return self.x.size(0)

class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, g):
        src, dst = g.edge_index
        out = torch.zeros(g.num_nodes, 2)
        out = out.index_add(0, dst, self.fc(g.x)[src])
        return out

def run():
    return fill(GCN())(Graph(data(3, 2), torch.tensor([[0, 1, 2], [1, 2, 0]])))

# %% [24] a vocabulary with numpy-like names
class Vocab:
    def __init__(self):
        self.words = {}

    def add(self, w):
        return self.words.setdefault(w, len(self.words))

    def size(self):
        return len(self.words)

    def max(self):
        return max(self.words)

def run():
    v = Vocab()
    for w in "a b a c".split():
        v.add(w)
    e = fill(nn.Embedding(v.size(), 2))
    return v.size(), v.max(), e(torch.tensor([v.add("c")]))

# %% [24] a meter with update, sum and avg
class AverageMeter:
    def __init__(self):
        self.sum = self.count = self.avg = 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

def run():
    m = AverageMeter()
    for i in range(3):
        m.update(data(2, seed=i).mean().item(), 2)
    return m.avg, m.sum, m.count

# %% [24] a subclass of dict with attributes
class Attr(dict):
    def __getattr__(self, k):
        return self[k]

class Net(nn.Module):
    def forward(self, batch):
        return batch["x"] + batch.y

def run():
    return Net()(Attr(x=data(2), y=torch.ones(2)))

# %% [24] a replay buffer of tuples
from collections import deque
import random

class Replay:
    def __init__(self, n):
        self.buf = deque(maxlen=n)

    def push(self, *t):
        self.buf.append(t)

    def sample(self, k):
        return list(zip(*list(self.buf)[:k]))

def run():
    r = Replay(3)
    for i in range(4):
        r.push(data(2, seed=i), i, bool(i % 2))
    s, a, d = r.sample(2)
    return torch.stack(s), torch.tensor(a), torch.tensor(d), len(r.buf)


# %% [25] an attribute named as a member of nn.Cell
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])

    def forward(self, x):
        for cell in self.cells:
            x = cell(x)
        return x


def run():
    return fill(Net())(data(1, 2))


# %% [24] a dataclass of tensors whose methods have names of a tensor's
from dataclasses import dataclass, replace


@dataclass
class State:
    x: torch.Tensor
    h: torch.Tensor
    t: int = 0

    def size(self, dim=None):
        return self.x.size(dim) if dim is not None else self.x.size()

    def float(self):
        return replace(self, x=self.x.float(), h=self.h.float())

    def repeat(self, n):
        return State(self.x.repeat(n, 1), self.h.repeat(n, 1), self.t)


def run():
    s = State(torch.arange(4).view(2, 2), torch.ones(2, 1, dtype=torch.float64))
    r = s.float().repeat(2)
    return r.x, r.h, r.size(0), tuple(s.size()), s.t, r.x.dtype

# %% [11] views of one buffer handed to two objects
class Ring:
    def __init__(self, n):
        self.data = torch.zeros(n)
        self.left = self.data[: n // 2]
        self.right = self.data[n // 2:]

    def push(self, v):
        self.data[:-1] = self.data[1:].clone()
        self.data[-1] = v

def run():
    r = Ring(4)
    for v in (1.0, 2.0, 3.0):
        r.push(v)
    r.left.add_(10)
    return r.data, r.left, r.right

# %% [21] a function that a decorator of the program wraps, called in forward
import functools

def doubled(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs) * 2
    return inner

@doubled
def shifted(x, by=1.0):
    return torch.tanh(x) + by

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = fill(nn.Linear(3, 2))

    def forward(self, x):
        return shifted(self.fc(x), by=0.5)

def run():
    m = Net()
    x = data(4, 3)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for _ in range(3):
        opt.zero_grad()
        loss = m(x).pow(2).mean()
        loss.backward()
        opt.step()
    return m(x), m

# %% [21] forward itself and a method are wrapped by decorators
import functools

def scaled(factor):
    def decorate(method):
        @functools.wraps(method)
        def inner(self, x):
            return method(self, x) * factor
        return inner
    return decorate

def checked(method):
    def inner(self, *args):
        assert all(isinstance(a, torch.Tensor) for a in args)
        return method(self, *args)
    return inner

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = fill(nn.Linear(3, 2))

    @scaled(0.5)
    def head(self, x):
        return self.fc(x)

    @checked
    @scaled(3.0)
    def forward(self, x):
        return self.head(x)

def run():
    m = Net()
    x = data(4, 3)
    return m(x), m(x + 1)

# %% [21] a wrapped function of another file
from layers import act

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = fill(nn.Linear(3, 2))

    def forward(self, x):
        return act(self.fc(x))

def run():
    m = Net()
    return m(data(4, 3)), m(data(2, 3, seed=4))

# --- layers.py
from functools import wraps
import torch

def clamped(fn):
    @wraps(fn)
    def inner(x):
        return fn(x).clamp(min=0.1)
    return inner

@clamped
def act(x):
    return torch.tanh(x)

# %% [24] a matcher that calls scipy in forward
from scipy.optimize import linear_sum_assignment

class Matcher(nn.Module):
    @torch.no_grad()
    def forward(self, outputs, targets):
        bs, n = outputs["logits"].shape[:2]
        prob = outputs["logits"].flatten(0, 1).softmax(-1)
        ids = torch.cat([t["labels"] for t in targets])
        C = (-prob[:, ids]).view(bs, n, -1).cpu()
        sizes = [len(t["labels"]) for t in targets]
        ind = [linear_sum_assignment(c[i]) for i, c in enumerate(C.split(sizes, -1))]
        return [(torch.as_tensor(i), torch.as_tensor(j)) for i, j in ind]

class Criterion(nn.Module):
    def __init__(self):
        super().__init__()
        self.matcher = Matcher()

    def forward(self, outputs, targets):
        idx = self.matcher(outputs, targets)
        loss = 0
        for b, (s, t) in enumerate(idx):
            loss = loss + F.cross_entropy(outputs["logits"][b, s], targets[b]["labels"][t])
        return loss / len(idx)

def run():
    head = fill(nn.Linear(3, 3))
    t = [{"labels": torch.tensor([0, 2])}, {"labels": torch.tensor([1])}]
    l = Criterion()({"logits": head(data(2, 4, 3))}, t)
    l.backward()
    return l.item(), head.weight.grad

# %% [24] a layer that smooths with scipy
from scipy.ndimage import gaussian_filter

class Smooth(nn.Module):
    def forward(self, x):
        return torch.from_numpy(gaussian_filter(x.numpy(), 1.0)).sum(0)

def run():
    m = Smooth()
    return [m(data(4, 4, seed=k)) for k in range(3)]

# %% [24, 25] a wrapper that forwards what it does not have
class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self.factor = 2.0

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)

    def forward(self, x):
        return self.module(x) * self.factor

def run():
    w = Wrapper(fill(nn.Linear(3, 2)))
    return w(data(2, 3)), w.in_features, w.out_features, w.weight.shape, hasattr(w, "nothing"), [n for n, _ in w.named_parameters()]

# %% [24, 25] a wrapper with two places to look in
class Pair(nn.Module):
    """Looks in both."""
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def __getattr__(self, item):
        """Forwards."""
        try:
            return nn.Module.__getattr__(self, item)
        except AttributeError:
            pass
        if hasattr(self.encoder, item):
            return getattr(self.encoder, item)
        return getattr(self.decoder, item)

    def forward(self, x):
        return self.decoder(self.encoder(x))

class Encoder(nn.Module):
    depth = 3
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.width = 4

    def forward(self, x):
        return torch.tanh(self.fc(x))

def run():
    p = Pair(Encoder(), nn.Linear(4, 2))
    fill(p)
    return p(data(2, 3)), p.depth, p.width, p.in_features, p.fc.weight.shape

# %% [24, 25] a wrapper of an environment and a module by item
class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict()

    def add(self, name, module):
        self.parts[name] = module
        return self

    def __getattr__(self, name):
        if name != "parts" and name in self.parts:
            return self.parts[name]
        return super().__getattr__(name)

def run():
    m = Lazy().add("head", nn.Linear(2, 3)).add("tail", nn.Linear(3, 1))
    fill(m)
    return m.tail(torch.relu(m.head(data(4, 2)))), list(m.state_dict())
