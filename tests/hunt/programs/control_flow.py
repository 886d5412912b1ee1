# %% [21] a helper in another file with two appends on a line
from lib import collect

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return collect(self.fc(x))

def run():
    m = fill(Net())
    y = m(data(2, 3))
    y.sum().backward()
    return y.detach(), m.fc.weight.grad
# --- lib.py
def collect(x):
    rows, cols = [], []
    for i in range(3):
        y = x[:, i]
        rows.append(y), cols.append(y * 2)
    return torch.stack(rows) + torch.stack(cols)

# %% [21] the same without a space after the comma
from lib import collect

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return collect(self.fc(x))

def run():
    m = fill(Net())
    y = m(data(2, 3))
    y.sum().backward()
    return y.detach(), m.fc.weight.grad
# --- lib.py
def collect(x):
    rows,cols=[],[]
    for i in range(3):
        y=x[:,i]
        rows.append(y),cols.append(y*2)
    return torch.stack(rows)+torch.stack(cols)

# %% [21] del in a function called by forward
from lib import head

class Net(nn.Module):
    def forward(self, x):
        return head(x)

def run():
    return Net()(data(4, 3))
# --- lib.py
def head(x):
    first, rest = x[:1], x[1:]
    del rest
    return first * 2

# %% [21] a list with two names
class Net(nn.Module):
    def forward(self, x):
        a = []
        b = a
        for i in range(3):
            a.append(x * i)
        return torch.stack(b).sum(0)

def run():
    return Net()(data(2, 3))

# %% [21] closures that see a later value
class Net(nn.Module):
    def forward(self, x):
        k = 1
        def scale(v):
            return v * k
        y = scale(x)
        k = 5
        return y + scale(x)

def run():
    return Net()(data(2, 3))

# %% [21] whole negative powers in a variable
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = -1

    def forward(self, x):
        p = -2
        return x.abs() ** p + x ** self.n

def run():
    return Net()(data(2, 3) + 3)

# %% [21] a helper that pops and extends
from lib import gather

class Net(nn.Module):
    def forward(self, x):
        return gather(x)

def run():
    return Net()(data(4, 3))
# --- lib.py
def gather(x):
    items = [x[0], x[1]]
    items.extend([x[2], x[3]])
    last = items.pop()
    items.insert(0, last)
    return torch.cat(items)

# %% [21] nested functions and generators
class Net(nn.Module):
    def forward(self, x):
        parts = [p * (i + 1) for i, p in enumerate(x.chunk(2, dim=1))]
        total = sum(p.sum() for p in parts)
        return torch.cat(parts, 1) + total

def run():
    return Net()(data(2, 4))

# %% [21] a condition on a tensor
class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        else:
            return x - 1

def run():
    return Net()(torch.ones(3)), Net()(-torch.ones(3))

# %% [21] a while loop on a tensor
class Net(nn.Module):
    def forward(self, x):
        n = 0
        while x.norm() > 1:
            x = x / 2
            n += 1
        return x, n

def run():
    return Net()(torch.ones(3) * 4)

# %% [21] early returns and None
class Net(nn.Module):
    def forward(self, x, mask=None):
        if mask is None:
            return x
        if mask.all():
            return x * 3
        return x * mask

def run():
    m = Net()
    return m(data(3)), m(data(3), torch.tensor([True, True, True])), m(data(3), torch.tensor([True, False, True]))

# %% [21] a dict as the result
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        out = {"logits": self.fc(x)}
        out["probs"] = out["logits"].softmax(-1)
        return out

def run():
    o = fill(Net())(data(2, 3))
    return o["logits"], o["probs"], list(o.keys())

# %% [21] break and continue in forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])

    def forward(self, x, stop=2):
        outs = []
        for i, l in enumerate(self.layers):
            if i == 1:
                continue
            x = torch.tanh(l(x))
            outs.append(x)
            if i == stop:
                break
        return torch.stack(outs)

def run():
    return fill(Net())(data(2, 3)), fill(Net())(data(2, 3), stop=3)

# %% [21] zip, enumerate, reversed over ModuleLists
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
        self.b = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])

    def forward(self, x):
        for i, (a, b) in enumerate(zip(self.a, reversed(self.b))):
            x = a(x) + b(x) * i
        return x

def run():
    return fill(Net())(data(1, 2))

# %% [21] star arguments and keyword arguments
class Net(nn.Module):
    def forward(self, *xs, scale=1.0, **extra):
        y = torch.cat(xs, -1) * scale
        if "bias" in extra:
            y = y + extra["bias"]
        return y

def run():
    m = Net()
    return m(data(2), data(3)), m(data(2), scale=2.0, bias=1.0)

# %% [21] a string that chooses the function
class Net(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act = getattr(F, act)
        self.mode = act

    def forward(self, x):
        if self.mode == "relu":
            return self.act(x)
        elif self.mode in ("tanh", "sigmoid"):
            return self.act(x) * 2
        raise ValueError(self.mode)

def run():
    return Net("relu")(data(3)), Net("tanh")(data(3))

# %% [21] recursion over nested lists
def flatten(xs):
    out = []
    for x in xs:
        if isinstance(x, (list, tuple)):
            out += flatten(x)
        else:
            out.append(x)
    return out

def run():
    a, b = data(1), data(1, seed=3)
    return torch.cat(flatten([a, [b, (a, b)]]))

# %% [21] try and except in forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        try:
            y = self.fc(x)
        except ValueError:
            y = x
        return y

def run():
    return fill(Net())(data(2, 3))

# %% [21] assert, isinstance and len in forward
class Net(nn.Module):
    def forward(self, x):
        assert x.dim() == 2
        if not isinstance(x, torch.Tensor):
            raise TypeError("x")
        n = len(x)
        b, c = x.shape
        return x.view(b * c) * n

def run():
    return Net()(data(2, 3))

# %% [21] an integer result of a tensor as a size
class Net(nn.Module):
    def forward(self, x, lengths):
        n = int(lengths.max())
        mask = torch.arange(n)[None, :] < lengths[:, None]
        return x[:, :n] * mask.float()

def run():
    return Net()(data(2, 5), torch.tensor([2, 4]))

# %% [21] slicing with negative and None bounds from attributes
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut = -1
        self.first = None

    def forward(self, x):
        return x[:, self.first:self.cut], x[..., self.cut], x[self.cut:]

def run():
    return Net()(data(3, 4))

# %% [21] lambdas in forward
class Net(nn.Module):
    def forward(self, x):
        f = lambda t, k=2: t * k
        g = lambda t: f(t) + 1
        return g(x) + f(x, 3)

def run():
    return Net()(data(3))

# %% [21] a static method and a class attribute
class Net(nn.Module):
    scale = 2.0

    @staticmethod
    def shift(x, by=1):
        return x + by

    @classmethod
    def factor(cls):
        return cls.scale * 2

    def forward(self, x):
        return self.shift(x) * self.scale * self.factor()

def run():
    return Net()(data(3))

# %% [21] a property used in forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    @property
    def scaled(self):
        return self.w * 3

    def forward(self, x):
        return x * self.scaled

def run():
    return Net()(data(3))

# %% [21] tensors gathered in a dict of lists
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

    def forward(self, x):
        store = {"even": [], "odd": []}
        for i, l in enumerate(self.layers):
            x = l(x)
            store["even" if i % 2 == 0 else "odd"].append(x)
        return torch.stack(store["even"]).sum(0) - store["odd"][0]

def run():
    m = fill(Net())
    y = m(data(2, 2))
    y.sum().backward()
    return y.detach(), m.layers[0].weight.grad

# %% [21] f-strings and prints in forward
class Net(nn.Module):
    def forward(self, x):
        name = f"layer{x.shape[0]}"
        return {name: x * 2}

def run():
    return Net()(data(2))

# %% [21] inherited forward with super
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)

class Child(Base):
    def __init__(self):
        super(Child, self).__init__()
        self.out = nn.Linear(3, 1)

    def forward(self, x):
        return self.out(torch.relu(super().forward(x)))

def run():
    return fill(Child())(data(2, 3))

# %% [21] several results and a mode flag
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x, return_feats=False):
        f = self.fc(x)
        y = f.sum(1)
        if return_feats:
            return y, f
        return y

def run():
    m = fill(Net())
    a, b = m(data(2, 3), return_feats=True)
    return m(data(2, 3)), a, b

# %% [25] functools.partial of layers with optimizers beside
from functools import partial

class Net(nn.Module):
    def __init__(self, norm=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.n = norm(3)
        self.act = partial(F.leaky_relu, negative_slope=0.2)

    def forward(self, x):
        return self.act(self.n(x))

def run():
    m = Net()
    make = partial(torch.optim.SGD, lr=0.1)
    opt = make(m.parameters())
    double = partial(lambda a, b: a * b, 2)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m, double(4)

# %% [21] an activation and a layer chosen by their names
class MLP(nn.Module):
    def __init__(self, act="relu", norm="LayerNorm", last="Tanh"):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.act = getattr(F, act)
        self.norm = getattr(nn, norm)(4)
        self.last = getattr(torch.nn, last)()

    def forward(self, x):
        return self.last(self.norm(self.act(self.fc(x))))

def run():
    return fill(MLP())(data(2, 3)), fill(MLP("gelu", "BatchNorm1d", "Sigmoid"))(data(4, 3))

# %% [21] a reduction by its name
def reduce(x, how):
    return getattr(torch, how)(x)

def run():
    return reduce(data(3), "mean"), reduce(data(3), "sum"), getattr(data(3), "abs")()

# %% [21] members of an Enum decide in forward
from enum import Enum

class Kind(Enum):
    ADD = "add"
    MUL = "mul"

class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = Kind(kind)
        self.fc = fill(nn.Linear(3, 3))

    def forward(self, x):
        y = self.fc(x)
        if self.kind is Kind.ADD:
            return x + y
        return x * y if self.kind is not Kind.ADD else x

def run():
    return Net("add")(data(2, 3)), Net("mul")(data(2, 3))

# %% [21] keys in the order of their names
# in: 2,3; grad
def f(x):
    parts = {"b": x + 1, "a": x * 2, "c": x}
    wide = torch.cat([parts[key] for key in sorted(parts, reverse=True)], dim=-1)
    order = sorted(parts.items())
    return wide + torch.cat([value for _, value in order], dim=-1)

# %% [21] the first of a dict, of a list and of a generator
# in: 2,3; grad
def f(x):
    parts = {"b": x + 1, "a": x * 2}
    first = next(iter(parts.values()))
    key = next(iter(parts))
    return first * 2 + parts[key] + next(y for y in [x, first] if y is not x)

# %% [21] dicts joined, unpacked and gone through with weights
# in: 2,3; grad
def f(x):
    parts = {"u": x + 1, "v": x * 2}
    both = {**parts, "w": x}
    more = parts | {"z": x * 3}
    one, two = parts
    out = sum(parts[key] * weight for key, weight in zip(parts, [2, 3]))
    return out + both["w"] + more["z"] + parts[one] * parts[two] * len(max(parts))

# %% [21] two loops in a comprehension, and the largest by a key
# in: 2,3; grad
def f(x):
    found = [x * i + j for i in range(2) for j in range(3) if i != j]
    return torch.stack(found).sum(0) * max([1, 2, 3], key=lambda n: -n) * max([], default=2)

# %% [21, 23] numbers of numpy as strides, beside lists
class Net(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.a = nn.Conv2d(2, 3, kernel_size=[1, k], padding=[0, k // 2], stride=np.int64(1))
        self.b = nn.Conv1d(3, 3, np.int32(3), padding=np.array([1])[0])

    def forward(self, x):
        return self.b(self.a(x).flatten(2))

def run():
    return fill(Net(3))(data(2, 2, 4, 4))

# %% [0] reductions chosen from a table, of rows, of all and of two tensors
# in: 3,4 3,4; grad
REDUCE = {"max": torch.max, "min": torch.min, "std": torch.std}

def f(x, y):
    rows = REDUCE["max"](x, dim=1).values - REDUCE["min"](x, 1)[0]
    return (rows * REDUCE["max"](x) + REDUCE["min"](x, y).sum(1) * REDUCE["std"](x, 1)).sum()

# %% [0] the larger of many tensors by reduce
# in: 3,4 3,4; grad
import functools

def f(x, y):
    return functools.reduce(torch.max, [x, y, x * y, x - y]).sum()

# %% [0] the smaller of two critics, unpacked into the call
class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 1), nn.Linear(3, 1)

    def forward(self, x):
        return self.one(x), self.two(x)

def run():
    critics = fill(Critics())
    actor = fill(nn.Linear(4, 3), 2)
    opt = torch.optim.Adam(actor.parameters(), lr=0.05)
    losses = []
    for i in range(3):
        loss = -torch.min(*critics(torch.tanh(actor(data(5, 4, seed=i))))).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, actor

# %% [0] a pooling function chosen by a flag
# in: 2,3,4,4; grad
def f(x):
    total = 0
    for mean in (True, False):
        pool = F.avg_pool2d if mean else F.max_pool2d
        total = total + pool(x, 2).pow(2).sum() + pool(x, 3, stride=1, padding=1).sum()
    return total

# %% [0] functions with the names of Python's
# in: 3,4
def f(x):
    whole = list(map(torch.round, [x, x * 10]))
    return whole, max(1, 2), list(map(torch.any, [x > 0, x > 9])), [torch.where(m) for m in [x > 0]]

# %% [21] a distribution as an inner value of a network
# in: 3,4; grad
from torch import distributions as D

def f(x):
    d = D.Normal(x, 1.0)
    return d.log_prob(x * 2).sum() + D.kl_divergence(d, D.Normal(torch.zeros_like(x), torch.ones_like(x))).sum()

# %% [21] a network that gives its distribution, called outside of the step too
from torch.distributions.categorical import Categorical

class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
        self.pi, self.v = nn.Linear(8, 3), nn.Linear(8, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)

def run():
    net = fill(ActorCritic())
    obs, act, adv = data(12, 4), labels(12, 3), data(12, seed=4)
    with torch.no_grad():
        old = net(obs)[0].log_prob(act)
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    info = []
    for start in (0, 4, 8):
        part = slice(start, start + 4)
        dist, value = net(obs[part])
        ratio = (dist.log_prob(act[part]) - old[part]).exp()
        loss = -(ratio * adv[part]).mean() + value.pow(2).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        info.append(loss.item())
    return info, net
