# %% [8] a forward pass alone
def run():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    fill(net)
    y = net(data(6, 3))
    return y, net[1].running_mean

# %% [8] inline
def run():
    return nn.BatchNorm1d(3)(data(6, 3)), nn.Sequential(nn.BatchNorm1d(3), nn.ReLU())(data(6, 3))

# %% [8] a class with self.training
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        y = self.fc(x)
        if self.training:
            return y * 2
        return y

def run():
    m = fill(Net())
    a = m(data(4, 3))
    m.eval()
    b = m(data(4, 3))
    m.train()
    return a, b, m(data(4, 3)), m.training

# %% [8] a list of models
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.bn = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.bn(self.fc(x))

def run():
    nets = [fill(Net(), i) for i in range(2)]
    return [n(data(6, 3)) for n in nets], [n.bn.running_mean for n in nets]

# %% [8] a dict of models, trained
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.bn = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.bn(self.fc(x))

def run():
    nets = {"a": fill(Net()), "b": fill(Net(), 1)}
    for name, net in nets.items():
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(2):
            opt.zero_grad()
            net(data(6, 3)).pow(2).sum().backward()
            opt.step()
    return nets["a"], nets["b"], nets["a"].bn.running_var

# %% [8] an attribute of a plain object
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.bn = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.bn(self.fc(x))

class Agent:
    def __init__(self):
        self.net = fill(Net())

    def act(self, x):
        return self.net(x)

def run():
    agent = Agent()
    return agent.act(data(6, 3)), agent.net.bn.running_mean, agent.net.training

# %% [8] chosen by if and else
def run():
    found = []
    for kind in ("a", "b"):
        if kind == "a":
            net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
        else:
            net = nn.BatchNorm1d(3)
        fill(net)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(2):
            opt.zero_grad()
            loss = net(data(6, 3)).pow(2).mean()
            loss.backward()
            opt.step()
        found.append((loss.item(), net))
    return found

# %% [8] chosen by a conditional expression
def run():
    deep = True
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)) if deep else nn.BatchNorm1d(3)
    fill(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        loss = net(data(6, 3)).pow(2).mean()
        loss.backward()
        opt.step()
    return loss.item(), net

# %% [8] chosen by try and except
def build(n):
    if n > 3:
        raise ValueError(n)
    return nn.Sequential(nn.Linear(3, n), nn.BatchNorm1d(n))

def run():
    try:
        net = build(5)
    except ValueError:
        net = build(2)
    fill(net)
    return net(data(6, 3)), net[1].running_mean, net.training

# %% [8] from a table of classes
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(3)

    def forward(self, x):
        return self.bn(x)

class B(A):
    def forward(self, x):
        return self.bn(x) * 2

MODELS = {"a": A, "b": B}

def run():
    found = []
    for name in ("a", "b"):
        net = MODELS[name]()
        found.append((net(data(6, 3)), net.bn.running_mean))
    return found

# %% [8] called by forward
def run():
    net = fill(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    y = net.forward(data(6, 3))
    return y, net[1].running_mean

# %% [8] a layer set to evaluation in __init__
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.bn = nn.BatchNorm1d(2)
        self.bn.eval()
        self.out = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.out(self.bn(self.fc(x)))

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(6, 3), data(6, 2, seed=3)
    for i in range(2):
        opt.zero_grad()
        F.mse_loss(m(x), y).backward()
        opt.step()
    return m, m.bn.running_mean, m.out.running_mean, m.bn.training, m.out.training

# %% [8] the step in another function
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.bn = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.bn(self.fc(x))

def step(net, opt, x, y):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    return loss.item()

def run():
    found = []
    for width in (1, 2):
        net = fill(Net(), width)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        found.append([step(net, opt, data(6, 3), data(6, 2, seed=4)) for _ in range(2)])
    return found, step(fill(Net()), torch.optim.SGD(fill(Net()).parameters(), lr=0.1), data(6, 3), data(6, 2, seed=4))

# %% [8] the step in another file
from engine import step
from nets import Net

def run():
    net = fill(Net())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    return [step(net, opt, data(6, 3), data(6, 2, seed=4)) for _ in range(3)], net.bn.running_mean
# --- nets.py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.bn = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.bn(self.fc(x))
# --- engine.py
def step(net, opt, x, y):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    return loss.item()

# %% [8] partial evaluation after training mode
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.bn = nn.BatchNorm1d(2)
        self.out = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.out(self.bn(self.fc(x)))

    def train(self, mode=True):
        super().train(mode)
        self.bn.eval()
        return self

def run():
    m = fill(Net())
    first = m(data(6, 3))
    m.train()
    second = m(data(6, 3))
    return first, second, m.bn.running_mean, m.out.running_mean

# %% [8] batch norms set to evaluation one by one
def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Linear(2, 2), nn.BatchNorm1d(2)))
    for mod in m.modules():
        if isinstance(mod, nn.BatchNorm1d):
            mod.eval()
            break
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(6, 3)).pow(2).mean().backward()
        opt.step()
    return m, m[1].running_mean, m[3].running_mean

# %% [8] evaluated first, trained later
def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    m.eval()
    first = m(data(6, 3))
    m.train()
    second = m(data(6, 3))
    return first, second, m[1].running_mean

# %% [8] a copy keeps its mode
import copy

def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    ema = copy.deepcopy(m)
    ema.eval()
    a, b = m(data(6, 3)), ema(data(6, 3))
    return a, b, m.training, ema.training

# %% [8] a module handed to the constructor of another
class Wrap(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x) * 2

def run():
    w = Wrap(nn.BatchNorm1d(3))
    return w(data(6, 3)), w.inner.running_mean, w.inner.training

# %% [8] added after the construction
def run():
    m = nn.Sequential(nn.Linear(3, 2))
    m.add_module("bn", nn.BatchNorm1d(2))
    fill(m)
    return m(data(6, 3)), m.bn.running_mean

# %% [8] a global model
net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))

def run():
    fill(net)
    return net(data(6, 3)), net[1].running_mean

# %% [8] a head replaced after evaluation
def run():
    m = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    m.eval()
    m[1] = nn.BatchNorm1d(2)
    fill(m)
    return m(data(6, 3)), m[1].running_mean, [c.training for c in m]

# %% [8] what training says in the constructor
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.began = self.training
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)

def run():
    m = Net()
    return m.began, m.training, m.fc.training

# %% [8] the functional form
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("var", torch.ones(3))

    def forward(self, x):
        return F.batch_norm(x, self.mean, self.var, training=self.training)

def run():
    m = Net()
    a = m(data(6, 3))
    m.eval()
    return a, m(data(6, 3))

# %% [8] a model that one way switches to evaluation and the other leaves as it was built
def run(frozen=False):
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)))
    if frozen:
        m.eval()
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(m(data(6, 3, seed=i)), data(6, 2, seed=i + 5))
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m[1].running_mean

# %% [8] stages frozen by a method that the constructor calls
class Backbone(nn.Module):
    def __init__(self, frozen=1, norm_eval=True):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5))
        self.layer1 = nn.Sequential(nn.Linear(5, 5), nn.BatchNorm1d(5), nn.ReLU())
        self.frozen, self.norm_eval = frozen, norm_eval
        self._freeze_stages()

    def _freeze_stages(self):
        if self.frozen >= 0:
            self.stem.eval()
            for p in self.stem.parameters():
                p.requires_grad = False

    def forward(self, x):
        return self.layer1(self.stem(x))

    def train(self, mode=True):
        super(Backbone, self).train(mode)
        self._freeze_stages()
        if mode and self.norm_eval:
            for m in self.modules():
                if isinstance(m, nn.BatchNorm1d):
                    m.eval()

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(5, 3)
    def forward(self, x):
        return self.head(self.backbone(x))

def run():
    m = fill(Model())
    opt = torch.optim.SGD([p for p in m.parameters() if p.requires_grad], lr=0.1)
    first = m(data(6, 4)).detach()
    m.train()
    for i in range(3):
        opt.zero_grad()
        F.cross_entropy(m(data(6, 4, seed=i)), labels(6, 3)).backward()
        opt.step()
    return first, m, m.backbone.layer1[1].running_mean, m.backbone.stem[1].running_mean

# %% [8, 7] batch norms frozen by apply in the middle of training
def freeze(m):
    if isinstance(m, nn.BatchNorm1d):
        m.eval()

def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Linear(2, 2)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    means = []
    for i in range(4):
        if i == 2:
            m.apply(freeze)
        opt.zero_grad()
        m(data(6, 3, seed=i)).pow(2).mean().backward()
        opt.step()
        means.append(m[1].running_mean.clone())
    return m, means

# %% [8] phases by train(flag), run by a function of another file
from phases import run_phase

def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for epoch in range(2):
        for phase in ["train", "val"]:
            m.train(phase == "train")
            log.append(run_phase(m, opt, phase, data(6, 3, seed=epoch), labels(6, 2, seed=epoch)))
    return log, m, m[1].running_mean
# --- phases.py
def run_phase(model, optimizer, phase, x, y):
    optimizer.zero_grad()
    with torch.set_grad_enabled(phase == "train"):
        loss = F.cross_entropy(model(x), y)
        if phase == "train":
            loss.backward()
            optimizer.step()
    return loss.item()

# %% [8] a trainer of another file that evaluates behind each epoch and never trains in front of one
from trainer import Trainer

def run():
    net = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)))
    trainer = Trainer(net, torch.optim.SGD(net.parameters(), lr=0.1))
    log = [trainer.epoch(data(6, 3, seed=i), labels(6, 2, seed=i)) for i in range(3)]
    return log, net, net[1].running_mean
# --- trainer.py
class Trainer:
    def __init__(self, model, optimizer, device="cpu"):
        self.model = model.to(device)
        self.optimizer = optimizer

    def epoch(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.model.eval()
        with torch.no_grad():
            value = F.cross_entropy(self.model(x), y).item()
        self.model.train()
        return loss.item(), value

# %% [8, 25] a step that gets a network under one name from a function that has it under another
def step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()

def epoch(network, optimizer, batches):
    return [step(network, optimizer, x, y) for x, y in batches]

def run():
    from elsewhere import train
    net = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    batches = [(data(6, 3, seed=i), labels(6, 2, seed=i)) for i in range(3)]
    return train(epoch, net, optimizer, batches), net, net[1].running_mean
# --- elsewhere.py
def train(epoch, net, optimizer, batches):
    return epoch(net, optimizer, batches)

# %% [8, 25] a step of a class that keeps the network of the object it was given
from step import Step

class Owner:
    def __init__(self):
        self.model = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

def run():
    owner = Owner()
    step = Step(owner)
    log = [step(data(6, 3, seed=i), labels(6, 2, seed=i)) for i in range(3)]
    return log, owner.model, owner.model[1].running_mean
# --- step.py
class Step:
    def __init__(self, owner):
        self.model = owner.model
        self.optimizer = owner.optimizer

    def __call__(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()
