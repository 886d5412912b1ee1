# %% [21] one loss in a dict call, another beside it
def run():
    net, aux = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), 1)
    opt = torch.optim.SGD([*net.parameters(), *aux.parameters()], lr=0.1)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        main = F.cross_entropy(net(x), y)
        extra = dict(
            aux=F.cross_entropy(aux(x), y), l2=sum(p.pow(2).sum() for p in aux.parameters())
        )
        loss = main + 0.4 * extra["aux"] + 1e-2 * extra["l2"]
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net, aux


# %% [21] a weighted dict of losses by copy, update and pop
def run():
    net = fill(nn.Linear(3, 4))
    head = fill(nn.Linear(4, 2), 1)
    opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=0.05)
    weights = {"ce": 1.0, "reg": 0.5, "skip": 0.0}
    hist = {k: [] for k in weights}
    for i in range(3):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        h = torch.relu(net(x))
        losses = {"ce": F.cross_entropy(head(h), y)}
        losses.update(reg=h.abs().mean(), skip=h.sum())
        scaled = {k: weights[k] * v for k, v in losses.items()}
        scaled.pop("skip")
        total = sum(scaled.values())
        opt.zero_grad()
        total.backward()
        opt.step()
        for k, v in losses.items():
            hist[k].append(v.item())
    return hist, net, head


# %% [21] functools.reduce beside a direct term
from functools import reduce


def run():
    nets = [fill(nn.Linear(3, 3), i) for i in range(3)]
    opt = torch.optim.SGD([p for n in nets for p in n.parameters()], lr=0.1)
    log = []
    for i in range(3):
        x = data(4, 3, seed=i)
        y = reduce(lambda h, n: torch.tanh(n(h)), nets[:2], x)
        z = nets[2](x)
        loss = (y - 1).pow(2).mean() + z.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, nets[0], nets[2]


# %% [21] insert at the front of a list beside a direct term
def run():
    cell, head = fill(nn.GRUCell(2, 3)), fill(nn.Linear(2, 3), 1)
    opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    log = []
    for i in range(3):
        x = data(4, 2, 2, seed=i)
        h = torch.zeros(2, 3)
        outs = []
        for t in range(4):
            h = cell(x[t], h)
            outs.insert(0, h)
        loss = torch.stack(outs).pow(2).mean() + head(x[0]).mean() * 0.5 + outs[0].sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, cell, head


# %% [21] an inner closure over a name that is bound again, in the loop
def run():
    net = fill(nn.Linear(3, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    log = []
    for i in range(3):
        scale = 1.0

        def penal(t):
            return (t * scale).pow(2).mean()

        out = net(data(2, 3, seed=i))
        a = penal(out)
        scale = 3.0
        b = penal(out)
        loss = a + 0.1 * b
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((a.item(), b.item()))
    return log, net


# %% [21] attributes of a trainer read back inside its step
class Trainer:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)
        self.losses, self.out, self.best = [], None, float("inf")

    def step(self, x, y):
        self.out = self.net(x)
        self.loss = F.mse_loss(self.out, y)
        self.reg = self.out.abs().mean()
        total = self.loss + 0.1 * self.reg
        self.opt.zero_grad()
        total.backward()
        self.opt.step()
        self.losses.append(total.item())
        if total.item() < self.best:
            self.best = total.item()
        return self.out.detach()


def run():
    t = Trainer(fill(nn.Linear(3, 2)))
    outs = [t.step(data(4, 3, seed=i), data(4, 2, seed=9)) for i in range(3)]
    return t.losses, t.best, outs, t.loss.item(), t.reg.item(), t.net


# %% [21] a deque of past features and a counter in the step
from collections import Counter, defaultdict, deque


def run():
    net = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    past, seen, sums = deque(maxlen=2), Counter(), defaultdict(float)
    log = []
    for i in range(4):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        out = net(x)
        loss = F.cross_entropy(out, y)
        for old in past:
            loss = loss + 0.1 * (out.mean(0) - old).pow(2).sum()
        past.append(out.mean(0).detach())
        seen.update(out.argmax(1).tolist())
        sums["loss"] += loss.item()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, dict(sums), sorted(seen.items()), list(past), net


# %% [21] whole powers, walrus, chained comparison and conditional terms in the step
def run():
    net = fill(nn.Linear(3, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    log = []
    for i in range(4):
        out = net(data(2, 3, seed=i))
        w = 10 ** -(i + 1)
        gamma = 2
        loss = sum(gamma**-k * out[:, k].pow(2).mean() for k in range(3))
        if 0 < i < 3:
            loss = loss + w * out.abs().sum()
        elif (n := out.numel()) > 5 and i == 3:
            loss = loss / n
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net


# %% [21] lists that share a name: parts = all_parts, appended by one, summed by the other
def run():
    net = fill(nn.Linear(3, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    log = []
    for i in range(3):
        out = net(data(2, 3, seed=i))
        terms = []
        parts = terms
        for k in range(3):
            parts.append(out[:, k].pow(2).mean())
        parts[0] = parts[0] * 2
        parts += [out.mean()]
        first, second = terms[:2], terms[2:]
        loss = sum(first) + 0.5 * sum(second)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((loss.item(), len(terms)))
    return log, net


# %% [21] string keys, sorted names, any and all over tensors in the step
def run():
    nets = {"b": fill(nn.Linear(3, 1)), "a": fill(nn.Linear(3, 1), 1)}
    opt = torch.optim.SGD([p for n in nets.values() for p in n.parameters()], lr=0.1)
    log = []
    for i in range(3):
        x = data(4, 3, seed=i)
        outs = {f"out_{k}": n(x) for k, n in sorted(nets.items())}
        names = [k for k in outs if k.endswith("a") or i > 0]
        use = any(o.mean() > 0 for o in outs.values())
        every = all(torch.isfinite(o).all() for o in outs.values())
        loss = sum(outs[k].pow(2).mean() for k in names)
        if use and every:
            loss = loss * 2
        loss += max(o.max() for o in outs.values()) * 0.01
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((loss.item(), use, names))
    return log, nets["a"], nets["b"]


# %% [21] an own dataclass and a NamedTuple built in the step
from dataclasses import dataclass
from typing import NamedTuple


class Out(NamedTuple):
    logits: torch.Tensor
    feat: torch.Tensor


@dataclass
class Losses:
    ce: torch.Tensor
    reg: torch.Tensor
    weight: float = 0.1

    def total(self):
        return self.ce + self.weight * self.reg

    def items(self):
        return {"ce": self.ce.item(), "reg": self.reg.item()}


def run():
    body, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        f = torch.tanh(body(x))
        out = Out(head(f), feat=f)
        losses = Losses(F.cross_entropy(out.logits, y), out.feat.pow(2).mean())
        direct = head(f).pow(2).mean()
        loss = losses.total() + 0.05 * direct
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(losses.items())
    return log, body, head


# %% [21] for-else, try and continue around terms of the loss
def run():
    net = fill(nn.Linear(3, 4))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    log = []
    for i in range(4):
        out = net(data(2, 3, seed=i))
        loss = 0
        for k in range(4):
            if k == i:
                continue
            if k == 3 and i == 1:
                break
            loss = loss + out[:, k].pow(2).mean() * (k + 1)
        else:
            loss = loss + out.sum() * 0.1
        try:
            loss = loss + {0: 1.0, 2: 2.0}[i]
        except KeyError:
            loss = loss * 1.5
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net


# %% [8] networks with BatchNorm in a list, called through reduce
from functools import reduce


def block(i):
    return nn.Sequential(fill(nn.Linear(3, 3), i), nn.BatchNorm1d(3))


def run():
    nets = [block(i) for i in range(3)]
    opt = torch.optim.SGD([p for n in nets for p in n.parameters()], lr=0.1)
    log = []
    for i in range(3):
        x = data(4, 3, seed=i)
        y = reduce(lambda h, n: torch.tanh(n(h)), nets[:2], x)
        loss = (y - 1).pow(2).mean() + nets[2](x).pow(3).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, nets[0][1].running_mean, nets[2][1].running_var


# %% [8] networks with BatchNorm in a dict, called in a comprehension
def run():
    nets = {
        k: nn.Sequential(fill(nn.Linear(3, 2), i), nn.BatchNorm1d(2)) for i, k in enumerate("ab")
    }
    opt = torch.optim.SGD([p for n in nets.values() for p in n.parameters()], lr=0.1)
    log = []
    for i in range(3):
        x = data(4, 3, seed=i)
        outs = {k: n(x) for k, n in nets.items()}
        loss = sum((o - j).pow(2).mean() for j, o in enumerate(outs.values()))
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, nets["a"][1].running_mean


# %% [8] layers passed to a function of the program as a list
def chain(layers, x, act=torch.tanh):
    for f in layers:
        x = act(f(x))
    return x


def run():
    layers = [nn.Sequential(fill(nn.Linear(3, 3), i), nn.BatchNorm1d(3)) for i in range(2)]
    head = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(
        sum([list(l.parameters()) for l in layers], []) + list(head.parameters()), lr=0.1
    )
    log = []
    for i in range(3):
        h = chain(layers, data(4, 3, seed=i))
        loss = (head(h) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, layers[1][1].running_mean, layers[0][0].weight


# %% [21] layers mapped, and a helper from another file that takes functions
from tools import compose, mapped


def run():
    nets = [fill(nn.Linear(3, 3), i) for i in range(2)]
    head = fill(nn.Linear(3, 1), 4)
    opt = torch.optim.SGD([p for n in [*nets, head] for p in n.parameters()], lr=0.1)
    log = []
    for i in range(3):
        x = data(4, 3, seed=i)
        outs = mapped(nets, x)
        z = compose(*nets, torch.tanh)(x)
        both = list(map(lambda n: n(x).mean(), nets))
        loss = head(sum(outs) + z).pow(2).mean() + sum(both)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, nets[0].weight, nets[1].weight, head.weight


# --- tools.py
def compose(*fs):
    def run(x):
        for f in fs:
            x = f(x)
        return x

    return run


def mapped(fs, x):
    return [f(x) for f in fs]


# %% [6] an inner function that reads what the step has computed
def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        f = torch.tanh(enc(x))

        def head_loss(weight):
            return weight * F.cross_entropy(head(f), y)

        a = head_loss(1.0)
        y = 1 - y
        b = head_loss(0.5)
        loss = a + b
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((a.item(), b.item()))
    return log, enc, head


# %% [6] a lambda over a schedule that moves between its calls
def run():
    net = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    log = []
    temperature = 2.0
    soft = lambda t: F.softmax(t / temperature, -1)
    for i in range(4):
        out = net(data(4, 3, seed=i))
        loss = (soft(out) * out).sum()
        temperature = temperature * 0.5
        loss = loss + (soft(out.detach()) * out).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net
