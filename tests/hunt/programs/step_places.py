# %% [25] an optimizer bound under an if
def run(train=True):
    m = fill(nn.Linear(3, 2))
    if train:
        opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    log = []
    for i in range(3):
        loss = F.mse_loss(m(x), y)
        if train:
            opt.zero_grad()
            loss.backward()
            opt.step()
        log.append(loss.item())
    return log, m

# %% [25] an optimizer bound under if and else
def run():
    found = []
    for kind in ("sgd", "adam"):
        m = fill(nn.Linear(3, 2))
        if kind == "sgd":
            opt = torch.optim.SGD(m.parameters(), lr=0.1)
        else:
            opt = torch.optim.Adam(m.parameters(), lr=0.1)
        for i in range(3):
            opt.zero_grad()
            F.mse_loss(m(data(4, 3)), data(4, 2, seed=3)).backward()
            opt.step()
        found.append(m)
    return found

# %% [25] an input of the step bound under an if
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    use = False
    if use:
        weight = data(4, 2, seed=8)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        out = m(x)
        loss = ((out - y) ** 2 * weight).mean() if use else F.mse_loss(out, y)
        loss.backward()
        opt.step()
    return m

# %% [25] an input bound in the loop under an if
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        if i >= 2:
            target = y * 2
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        if i >= 2:
            loss = loss + F.l1_loss(m(x), target)
        loss.backward()
        opt.step()
    return m

# %% [25] an optimizer wrapper class in another file
from schedule import NoamOpt

def run():
    m = fill(nn.Linear(3, 2))
    opt = NoamOpt(torch.optim.SGD(m.parameters(), lr=0.0), 0.5)
    x, y = data(4, 3), data(4, 2, seed=3)
    log = []
    for i in range(4):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m
# --- schedule.py
class NoamOpt:
    def __init__(self, optimizer, factor):
        self.optimizer = optimizer
        self.factor = factor
        self._step = 0

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self._step += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.factor / (1 + self._step)
        self.optimizer.step()

# %% [25] a wrapper class in the same file
class NoamOpt:
    def __init__(self, optimizer, factor):
        self.optimizer = optimizer
        self.factor = factor
        self._step = 0

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self._step += 1
        rate = self.factor / (1 + self._step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()

def run():
    m = fill(nn.Linear(3, 2))
    opt = NoamOpt(torch.optim.Adam(m.parameters(), lr=0.0), 0.5)
    x, y = data(4, 3), data(4, 2, seed=3)
    log = []
    for i in range(4):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m

# %% [25] a group added before the first step
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), 1)
    opt = torch.optim.SGD(a.parameters(), lr=0.1, momentum=0.9)
    opt.add_param_group({"params": b.parameters(), "lr": 0.01})
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        F.mse_loss(a(x) + b(x), y).backward()
        opt.step()
    return a, b, len(opt.param_groups)

# %% [25] a group added later
def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2)))
    opt = torch.optim.Adam(m[1].parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        if i == 2:
            opt.add_param_group({"params": m[0].parameters(), "lr": 0.02})
        opt.zero_grad()
        F.mse_loss(m(x), y).backward()
        opt.step()
    return m

# %% [25] projected gradient descent on the input
def run():
    m = fill(nn.Linear(3, 2))
    x, y = data(4, 3), labels(4, 2)
    delta = torch.zeros_like(x, requires_grad=True)
    for i in range(4):
        loss = F.cross_entropy(m(x + delta), y)
        loss.backward()
        delta.data = (delta + 0.1 * delta.grad.detach().sign()).clamp(-0.15, 0.15)
        delta.grad.zero_()
    return delta.detach()

# %% [25] projected gradient descent inside training
def attack(m, x, y, eps=0.2):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(3):
        loss = F.cross_entropy(m(x + delta), y)
        loss.backward()
        with torch.no_grad():
            delta += 0.1 * delta.grad.sign()
            delta.clamp_(-eps, eps)
        delta.grad.zero_()
    return delta.detach()

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), labels(4, 2)
    log = []
    for i in range(3):
        delta = attack(m, x, y)
        opt.zero_grad()
        loss = F.cross_entropy(m(x + delta), y)
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m, delta

# %% [25] the step in another function
def update(opt, bound, params):
    torch.nn.utils.clip_grad_norm_(params, bound)
    opt.step()
    opt.zero_grad()

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        loss = F.mse_loss(m(x), y) * 5
        loss.backward()
        update(opt, 0.4, m.parameters())
    return m

# %% [25] the step in a method of a trainer, backward in another
class Trainer:
    def __init__(self):
        self.m = fill(nn.Linear(3, 2))
        self.opt = torch.optim.Adam(self.m.parameters(), lr=0.1)

    def compute(self, x, y):
        self.loss = F.mse_loss(self.m(x), y)

    def back(self):
        self.opt.zero_grad()
        self.loss.backward()

    def update(self):
        self.opt.step()

def run():
    t = Trainer()
    log = []
    for i in range(3):
        t.compute(data(4, 3, seed=i), data(4, 2, seed=i + 4))
        t.back()
        t.update()
        log.append(t.loss.item())
    return log, t.m

# %% [25] a list of optimizers
def run():
    nets = [fill(nn.Linear(3, 2), i) for i in range(2)]
    opts = [torch.optim.SGD(n.parameters(), lr=0.1) for n in nets]
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        for o in opts:
            o.zero_grad()
        loss = sum(F.mse_loss(n(x), y) for n in nets)
        loss.backward()
        for o in opts:
            o.step()
    return nets

# %% [25] a loss that may be missing
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        loss = None
        if i != 1:
            loss = F.mse_loss(m(x), y)
        if loss is None:
            continue
        opt.zero_grad()
        loss.backward()
        opt.step()
    return m

# %% [25] a loss that is not a number is skipped
import math

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    skipped = 0
    for i in range(4):
        loss = F.mse_loss(m(x), y)
        if i == 2:
            loss = loss * float("nan")
        if not math.isfinite(loss.item()):
            skipped += 1
            continue
        opt.zero_grad()
        loss.backward()
        opt.step()
    return m, skipped

# %% [6, 11] a term of the loss appended through another name
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), data(4, 2, seed=i + 5)
        opt.zero_grad()
        losses = []
        rows = losses
        rows.append(F.mse_loss(m(x), y))
        loss = sum(losses) + 0.01 * m.weight.abs().sum()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m

# %% [6, 11] a term of the loss collected by a function
def collect(terms, value):
    terms.append(value)

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), data(4, 2, seed=i + 5)
        opt.zero_grad()
        losses = []
        collect(losses, F.mse_loss(m(x), y))
        loss = sum(losses) + 0.01 * m.weight.abs().sum()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m

# %% [6, 11] terms of the loss in the lists of a dict
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), data(4, 2, seed=i + 5)
        terms = {}
        fit = terms.setdefault("fit", [])
        fit.append(F.mse_loss(m(x), y))
        loss = sum(terms["fit"]) + 0.01 * m.weight.abs().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m

# %% [6, 11] a list made before the loop and filled under two names
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    losses = []
    rows = losses
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), data(4, 2, seed=i + 5)
        opt.zero_grad()
        losses.clear()
        rows.append(F.mse_loss(m(x), y))
        loss = sum(losses) + 0.01 * m.weight.abs().sum()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m

# %% [25] layers thawed and given to the optimizer while training
def run():
    m = fill(nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 2)))
    for p in m.parameters():
        p.requires_grad = False
    for p in m[4].parameters():
        p.requires_grad = True
    opt = torch.optim.Adam(filter(lambda p: p.requires_grad, m.parameters()), lr=0.01)
    losses = []
    for epoch in range(4):
        if epoch == 2:
            for p in m[2].parameters():
                p.requires_grad = True
            opt.add_param_group({"params": m[2].parameters(), "lr": 0.001})
        x, y = data(6, 4, seed=epoch), labels(6, 2, seed=epoch)
        loss = F.cross_entropy(m(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, m, [g["lr"] for g in opt.param_groups]

# %% [25, 6] results are asserted and deleted between the loss and backward, and behind the step
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    losses = []
    for i in range(3):
        x, y = data(4, 3, seed=i), data(4, 2, seed=i + 3)
        out = m(x)
        gap = out - y
        loss = gap.pow(2).mean()
        assert not (np.isnan(loss.item()) or loss.item() > 1e5), "diverged"
        del gap
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        del out, loss, x
    return losses, m

# %% [6] features that another file computes, and a head that the step runs itself
from engine import Learner, update

def run():
    back, head = fill(nn.Linear(3, 4), 1), fill(nn.Linear(4, 2), 2)
    opt = torch.optim.SGD([*back.parameters(), *head.parameters()], lr=0.1)
    learner = Learner(head, opt)
    losses = []
    for i in range(2):
        x, y = data(5, 3, seed=i), labels(5, 2, seed=i)
        features = torch.relu(back(x))
        losses.append(update(features, head, y, opt))
        losses.append(learner.learn(back(x), y))
    return losses, back, head
# --- engine.py
def update(features, head: nn.Module, y, optimizer):
    loss = F.cross_entropy(head(features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

class Learner:
    def __init__(self, head, optimizer):
        self.head, self.optimizer = head, optimizer

    def learn(self, z, y):
        loss = F.cross_entropy(self.head(z), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

# %% [25] a term of the loss chosen by if, elif, else raise, and shown
def train(kind):
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for x, y in [(data(4, 3, seed=i), data(4, 2, seed=i + 9)) for i in range(3)]:
        out = m(x)
        if kind == "none":
            extra = 0
        elif kind == "l1":
            extra = 0.1 * out.abs().mean()
        else:
            raise NotImplementedError(kind)
        loss = F.mse_loss(out, y) + extra
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((loss.item(), float(extra)))
    return log, m

def run():
    return [train("none"), train("l1")]

# %% [25] a term of the loss that some rounds do not have, shown where there is one
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(4):
        out = m(data(4, 3, seed=i))
        loss = F.mse_loss(out, data(4, 2, seed=i + 9))
        if i % 2:
            extra = 0.1 * out.abs().mean()
            loss = loss + extra
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 2:
            log.append(extra.item())
    return log, m
