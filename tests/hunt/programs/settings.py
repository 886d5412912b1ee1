# %% [7] a temperature annealed between steps
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.tau = 1.0

    def forward(self, x):
        return self.fc(x) / self.tau

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    out = []
    for i in range(3):
        m.tau = 1.0 / (i + 1)
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out

# %% [7] a forward-only setting changed between calls
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.skip = False

    def forward(self, x):
        if self.skip:
            return x
        return x * 2

def run():
    m = Net()
    a = m(torch.ones(2))
    m.skip = True
    return a, m(torch.ones(2))

# %% [7] bn.momentum changed
def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))
    m(data(4, 3))
    m[1].momentum = 0.5
    m(data(4, 3, seed=7))
    return m[1].running_mean, m[1].momentum

# %% [7] dropout's p changed
def run():
    d = nn.Dropout(0.9)
    d(torch.ones(10))
    d.p = 0.0
    return d(torch.ones(10)), d.p

# %% [7] a submodule replaced after the first call
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.a(x))

def run():
    m = fill(Net())
    y = m(data(2, 3))
    m.act = nn.Tanh()
    z = m(data(2, 3))
    m.a = fill(nn.Linear(3, 3), seed=11)
    return y, z, m(data(2, 3))

# %% [7] momentum of a group changed
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    for i in range(3):
        for g in opt.param_groups:
            g["momentum"] = 0.5 if i else 0.9
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [7] weight decay of a group changed
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.1, weight_decay=0.5)
    for i in range(3):
        opt.param_groups[0]["weight_decay"] = 0.1 * i
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [7] Adam's betas and eps changed
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    for i in range(3):
        for group in opt.param_groups:
            group["betas"] = (0.5, 0.9)
            group["eps"] = 0.01
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [7] the learning rate set by hand
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    for i in range(3):
        for group in opt.param_groups:
            group["lr"] = 0.1 * 0.5 ** i
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m, opt.param_groups[0]["lr"]

# %% [7] a weight of the loss that grows
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    out = []
    for epoch in range(3):
        beta = epoch / 2
        x = data(4, 3)
        y = m(x)
        loss = y.pow(2).mean() + beta * y.abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out

# %% [7] a dict of settings
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x) * self.cfg["scale"]

def run():
    cfg = {"scale": 1.0}
    m = fill(Net(cfg))
    a = m(data(2, 3))
    cfg["scale"] = 3.0
    return a, m(data(2, 3))

# %% [7] a global setting
SCALE = 1.0

class Net(nn.Module):
    def forward(self, x):
        return x * SCALE

def run():
    global SCALE
    m = Net()
    a = m(torch.ones(2))
    SCALE = 4.0
    return a, m(torch.ones(2))

# %% [7] stochastic depth by a counter
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.depth = 3

    def forward(self, x):
        for l in self.layers[: self.depth]:
            x = l(x)
        return x

def run():
    m = fill(Net())
    out = [m(data(2, 3))]
    for d in (1, 2):
        m.depth = d
        out.append(m(data(2, 3)))
    return out

# %% [7] a step counter on self
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = 0
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        self.t += 1
        return self.fc(x) * self.t

def run():
    m = fill(Net())
    return m(data(1, 2)), m(data(1, 2)), m.t

# %% [7] requires_grad switched while training
def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(4):
        for p in m[0].parameters():
            p.requires_grad = i % 2 == 0
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return [p for p in m.parameters()]

# %% [7] a function passed as an attribute and replaced
class Net(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act = act

    def forward(self, x):
        return self.act(x)

def run():
    m = Net(torch.tanh)
    a = m(torch.ones(2))
    m.act = torch.sigmoid
    return a, m(torch.ones(2))

# %% [7] dampening, nesterov and amsgrad
def run():
    out = []
    for kw in ({"momentum": 0.9, "nesterov": True}, {"momentum": 0.9, "dampening": 0.5}):
        m = fill(nn.Linear(3, 1))
        opt = torch.optim.SGD(m.parameters(), lr=0.1, **kw)
        for i in range(3):
            opt.zero_grad()
            m(data(4, 3, seed=i)).pow(2).mean().backward()
            opt.step()
        out.append(m)
    return out

# %% [7] weights initialised anew between steps
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    out = []
    for i in range(4):
        if i == 2:
            nn.init.constant_(m.weight, 0.3)
            nn.init.zeros_(m.bias)
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out, m.weight

# %% [7] a function that is applied to a model initialises it anew between steps
def clear(layer):
    if isinstance(layer, nn.Linear):
        nn.init.constant_(layer.weight, 0.25)
        layer.bias.data.fill_(0.5)

def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    out = []
    for fold in range(2):
        m.apply(clear)
        for i in range(2):
            loss = m(data(4, 3, seed=i)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            out.append(loss.item())
    return out, m[0].weight

# %% [7] parameters from a vector between steps
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    start = nn.utils.parameters_to_vector(m.parameters()).detach().clone()
    out = []
    for i in range(4):
        if i == 2:
            nn.utils.vector_to_parameters(start, m.parameters())
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out, m.weight

# %% [7] reset_parameters between steps
def run():
    m = fill(nn.BatchNorm1d(3))
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    out = []
    for i in range(4):
        if i == 2:
            m.reset_parameters()
        loss = (m(data(4, 3, seed=i)) + 1).pow(3).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out, m.weight

# %% [7] the best weights loaded again between steps
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    best = {k: v.clone() for k, v in m.state_dict().items()}
    out = []
    for i in range(4):
        if i == 2:
            m.load_state_dict(best)
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out, m.weight

# %% [7] forward replaced on an instance
import types

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = fill(nn.Linear(3, 2))
    def forward(self, x):
        return self.fc(x)

def doubled(self, x):
    return self.fc(x) * 2

def run():
    m = Net()
    a = m(data(2, 3))
    m.forward = types.MethodType(doubled, m)
    b = m(data(2, 3))
    return a, b

# %% [7] a property that depends on settings
class Net(nn.Module):
    def __init__(self, heads=2):
        super().__init__()
        self.heads = heads
        self.fc = fill(nn.Linear(4, 4))
    @property
    def scale(self):
        return (4 // self.heads) ** -0.5
    def forward(self, x):
        return self.fc(x) * self.scale

def run():
    m = Net()
    out = [m(data(2, 4))]
    m.heads = 1
    out.append(m(data(2, 4)))
    return out

# %% [7] class attribute changed for all instances
class Block(nn.Module):
    gain = 1.0
    def __init__(self):
        super().__init__()
        self.fc = fill(nn.Linear(3, 3))
    def forward(self, x):
        return self.fc(x) * self.gain

def run():
    m = nn.Sequential(Block(), Block())
    a = m(data(2, 3))
    Block.gain = 0.5
    b = m(data(2, 3))
    return a, b

# %% [7] super forward and mixin order
class Scale:
    def forward(self, x):
        return super().forward(x) * 3

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = fill(nn.Linear(3, 2))
    def forward(self, x):
        return self.fc(x)

class Net(Scale, Base):
    pass

def run():
    return Net()(data(4, 3))

# %% [7] a callable object as activation
class Swish:
    def __init__(self, beta):
        self.beta = beta
    def __call__(self, x):
        return x * torch.sigmoid(self.beta * x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = Swish(1.5)
        self.fc = fill(nn.Linear(3, 2))
    def forward(self, x):
        return self.act(self.fc(x))

def run():
    m = Net()
    a = m(data(2, 3))
    m.act.beta = 0.5
    return a, m(data(2, 3))

# %% [7] lru_cache on a helper that builds a mask
import functools

@functools.lru_cache(maxsize=None)
def causal(n):
    return torch.triu(torch.full((n, n), float("-inf")), diagonal=1)

class Att(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = fill(nn.Linear(4, 4))
    def forward(self, x):
        s = self.q(x) @ x.transpose(-1, -2) + causal(x.shape[1])
        return s.softmax(-1) @ x

def run():
    m = Att()
    return m(data(2, 5, 4)), m(data(2, 3, 4, seed=7))

# %% [7] a callback makes the optimizer anew for other parameters
class Unfreeze:
    def on_epoch_end(self, trainer):
        if trainer.epoch == 1:
            trainer.setup_optim(trainer.model[1].parameters(), 0.05)


class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks, self.epoch, self.log = model, callbacks, 0, []
        self.setup_optim(model[0].parameters(), 0.1)

    def setup_optim(self, params, lr):
        self.optim = torch.optim.SGD(params, lr=lr, momentum=0.9)

    def fit(self, epochs):
        for self.epoch in range(epochs):
            for i in range(2):
                loss = F.mse_loss(self.model(data(4, 3, seed=2 * self.epoch + i)), data(4, 3, seed=i + 9))
                self.optim.zero_grad()
                loss.backward()
                self.optim.step()
                self.log.append(loss.item())
            for cb in self.callbacks:
                cb.on_epoch_end(self)


def run():
    t = Trainer(fill(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))), [Unfreeze()])
    t.fit(4)
    return t.log, t.model
