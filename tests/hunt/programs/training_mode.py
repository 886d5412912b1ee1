# %% [8] a fresh BatchNorm is in training mode
def run():
    bn = nn.BatchNorm1d(3)
    y = bn(data(4, 3))
    return y, bn.running_mean

# %% [8] a model built in a list
def run():
    nets = [fill(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))) for _ in range(2)]
    return [n(data(4, 3)) for n in nets]

# %% [8] a model built in a dict
def run():
    nets = {"a": fill(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))}
    return nets["a"](data(4, 3)), nets["a"].training

# %% [8] a model built in an attribute
class Agent:
    def __init__(self):
        self.net = fill(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))

    def act(self, x):
        return self.net(x)

def run():
    a = Agent()
    return a.act(data(4, 3)), a.net[1].running_mean

# %% [8] a model built inline
def run():
    return nn.BatchNorm1d(3)(data(4, 3)), nn.Sequential(nn.BatchNorm1d(3, affine=False))(data(4, 3))

# %% [8] if self.training
class Net(nn.Module):
    def forward(self, x):
        if self.training:
            return x * 2
        return x

def run():
    m = Net()
    a = m(torch.ones(2))
    m.eval()
    b = m(torch.ones(2))
    m.train()
    return a, b, m(torch.ones(2))

# %% [8] a model chosen by if and else
def make(kind):
    if kind == "bn":
        model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    else:
        model = nn.Linear(3, 3)
    return fill(model)

def run():
    return make("bn")(data(4, 3)), make("x")(data(4, 3))

# %% [8] a model chosen by a conditional expression
def run():
    flag = len("abc") == 3
    model = nn.BatchNorm1d(3) if flag else nn.Identity()
    return model(data(4, 3))

# %% [8] a model chosen by try and except
def run():
    try:
        model = nn.Sequential(nn.BatchNorm1d(3))
    except ValueError:
        model = nn.Identity()
    return model(data(4, 3))

# %% [8] forward called by name
def run():
    m = nn.BatchNorm1d(3)
    return m.forward(data(4, 3)), m.training

# %% [8] bn.eval() in __init__ stays
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.bn = nn.BatchNorm1d(3)
        self.bn.eval()

    def forward(self, x):
        return self.bn(self.fc(x))

def run():
    m = fill(Net())
    y = m(data(4, 3))
    return y, m.bn.training, m.training

# %% [8] a train method that keeps BatchNorm frozen
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.bn = nn.BatchNorm1d(3)

    def train(self, mode=True):
        super().train(mode)
        self.bn.eval()
        return self

    def forward(self, x):
        return self.bn(self.fc(x))

def run():
    m = fill(Net())
    m.train()
    return m(data(4, 3)), m.bn.training, m.fc.training

# %% [8] a step in another function
def step(model, opt, x):
    opt.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    opt.step()
    return loss.item()

def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    return [step(m, opt, data(4, 3, seed=i)) for i in range(3)], m

# %% [8] eval for the validation, train again
def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(2):
        m.train()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        m.eval()
        with torch.no_grad():
            log.append((loss.item(), m(data(4, 3)).mean().item()))
    return log

# %% [8] a returned model
def build():
    return fill(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))

def run():
    net = build()
    return net(data(4, 3)), build()(data(4, 3))

# %% [8] deepcopy keeps the mode
import copy

def run():
    m = nn.BatchNorm1d(3)
    c = copy.deepcopy(m)
    m.eval()
    return c.training, m.training, c(data(4, 3)), m(data(4, 3))

# %% [8] F.batch_norm and F.dropout with self.training
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("m", torch.zeros(3))
        self.register_buffer("v", torch.ones(3))

    def forward(self, x):
        x = F.batch_norm(x, self.m, self.v, training=self.training)
        return F.dropout(x, 0.0, self.training)

def run():
    n = Net()
    a = n(data(4, 3))
    n.eval()
    return a, n(data(4, 3))

# %% [8] train(False) and the mode of children
def run():
    m = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))
    m.train(False)
    flags = [c.training for c in m]
    m[0].train()
    return flags, [c.training for c in m], m.training, m[0](data(4, 3))

# %% [8] dropout in a fresh model drops
def run():
    d = nn.Dropout(0.5)
    y = d(torch.ones(1000))
    return bool((y == 0).any()), bool((y == 2).any()), d.training

# %% [8] a model in a closure
def make():
    bn = nn.BatchNorm1d(3)
    def apply(x):
        return bn(x)
    return apply

def run():
    return make()(data(4, 3))

# %% [8] train overridden, called by eval and by the network that holds it
class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)

    def train(self, mode: bool = True):
        super().train(mode)
        self.bn.eval()
        return self

    def forward(self, x):
        return self.bn(x)

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Frozen()
        self.head = fill(nn.Linear(3, 2))

    def forward(self, x):
        return self.head(self.body(x))

def modes(net):
    return [m.training for m in net.modules()]

def run():
    net, alone = Whole(), Frozen()
    seen = [modes(net), modes(net.train()), modes(net.eval()), modes(alone.train()), modes(alone.eval())]
    net.train()
    return seen, net(data(4, 3)), net.body.bn.running_mean

# %% [8] train overridden in a base class and again in a derived one
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Dropout(0.1), nn.BatchNorm1d(2)
        self.frozen_stages = 1

    def _freeze(self):
        if self.frozen_stages >= 0:
            self.stem.eval()

    def train(self, mode=True):
        super(Base, self).train(mode)
        self._freeze()

    def forward(self, x):
        return self.norm(x)

class Derived(Base):
    def train(self, mode=True):
        nn.Module.train(self, mode)
        if mode:
            self.norm.eval()

def run():
    out = []
    for net in (Base(), Derived(), nn.Sequential(Derived(), nn.ReLU())):
        net.train(True)
        out.append([m.training for m in net.modules()])
        net.eval()
        out.append([m.training for m in net.modules()])
    return out

# %% [8] the mode read before anything sets it
def run():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    before = net.training, net[1].training
    was = net.training
    net.eval()
    between = net[1].training
    net.train(was)
    return before, between, net.training
