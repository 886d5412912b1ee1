# %% [0] SGD as a subclass of Optimizer
from torch.optim import Optimizer

class PlainSGD(Optimizer):
    def __init__(self, params, lr=1e-2, weight_decay=0.0):
        defaults = dict(lr=lr, weight_decay=weight_decay)
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                d_p = p.grad
                if group["weight_decay"] != 0:
                    d_p = d_p.add(p, alpha=group["weight_decay"])
                p.add_(d_p, alpha=-group["lr"])

def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    opt = PlainSGD(m.parameters(), lr=0.1, weight_decay=0.01)
    log = []
    for i in range(3):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m

# %% [0] Lion with state per parameter
class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        if not 0.0 <= lr:
            raise ValueError("Invalid learning rate: {}".format(lr))
        defaults = dict(lr=lr, betas=betas, weight_decay=weight_decay)
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                grad = p.grad
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                exp_avg = state["exp_avg"]
                beta1, beta2 = group["betas"]
                update = exp_avg * beta1 + grad * (1 - beta1)
                p.add_(torch.sign(update), alpha=-group["lr"])
                exp_avg.mul_(beta2).add_(grad, alpha=1 - beta2)
        return loss

def run():
    m = fill(nn.Linear(3, 2))
    opt = Lion(m.parameters(), lr=0.01, weight_decay=0.1)
    for i in range(3):
        loss = m(data(4, 3, seed=i)).pow(2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return m, [s["exp_avg"] for s in opt.state.values()]

# %% [0] LARS in the older style with p.data and p.grad.data
class LARS(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, momentum=0.9, eta=0.001):
        super(LARS, self).__init__(params, dict(lr=lr, momentum=momentum, eta=eta))

    def step(self):
        for group in self.param_groups:
            momentum, eta, lr = group["momentum"], group["eta"], group["lr"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                param_state = self.state[p]
                d_p = p.grad.data
                weight_norm = torch.norm(p.data)
                grad_norm = torch.norm(d_p)
                local_lr = eta * weight_norm / (grad_norm + 1e-8)
                if "momentum_buffer" not in param_state:
                    buf = param_state["momentum_buffer"] = torch.zeros_like(p.data)
                else:
                    buf = param_state["momentum_buffer"]
                buf.mul_(momentum).add_(local_lr * lr * d_p)
                p.data.add_(-buf)

def run():
    m = fill(nn.Linear(3, 2))
    opt = LARS(m.parameters(), lr=1.0, eta=0.1)
    for i in range(3):
        opt.zero_grad()
        F.mse_loss(m(data(4, 3, seed=i)), data(4, 2, seed=9)).backward()
        opt.step()
    return m

# %% [0] SAM with two steps
class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        defaults = dict(rho=rho, **kwargs)
        super().__init__(params, defaults)
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norm = torch.norm(torch.stack([p.grad.norm(p=2) for g in self.param_groups for p in g["params"] if p.grad is not None]), p=2)
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                e_w = p.grad * scale
                p.add_(e_w)
                self.state[p]["e_w"] = e_w
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.sub_(self.state[p]["e_w"])
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()

def run():
    m = fill(nn.Linear(3, 2))
    opt = SAM(m.parameters(), torch.optim.SGD, rho=0.1, lr=0.1, momentum=0.9)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        loss = F.cross_entropy(m(x), y)
        loss.backward()
        opt.first_step(zero_grad=True)
        F.cross_entropy(m(x), y).backward()
        opt.second_step(zero_grad=True)
        log.append(loss.item())
    return log, m

# %% [0] Lookahead around another optimizer
class Lookahead:
    def __init__(self, optimizer, k=2, alpha=0.5):
        self.optimizer = optimizer
        self.k, self.alpha, self.counter = k, alpha, 0
        self.slow = [[p.clone().detach() for p in group["params"]] for group in optimizer.param_groups]

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.optimizer.step()
        self.counter += 1
        if self.counter % self.k == 0:
            for group, slow in zip(self.optimizer.param_groups, self.slow):
                for p, q in zip(group["params"], slow):
                    q.data.add_(p.data - q.data, alpha=self.alpha)
                    p.data.copy_(q.data)

def run():
    m = fill(nn.Linear(3, 2))
    opt = Lookahead(torch.optim.Adam(m.parameters(), lr=0.1))
    for i in range(4):
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return m

# %% [0] Noam's wrapper with a rate property
class NoamOpt:
    "Optim wrapper that implements rate."
    def __init__(self, model_size, factor, warmup, optimizer):
        self.optimizer = optimizer
        self._step = 0
        self.warmup = warmup
        self.factor = factor
        self.model_size = model_size
        self._rate = 0

    def step(self):
        self._step += 1
        rate = self.rate()
        for p in self.optimizer.param_groups:
            p["lr"] = rate
        self._rate = rate
        self.optimizer.step()

    def rate(self, step=None):
        if step is None:
            step = self._step
        return self.factor * (self.model_size ** (-0.5) * min(step ** (-0.5), step * self.warmup ** (-1.5)))

def run():
    model = fill(nn.Linear(3, 2))
    opt = NoamOpt(16, 1, 2, torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9))
    rates = []
    for i in range(3):
        loss = model(data(4, 3, seed=i)).pow(2).sum()
        loss.backward()
        opt.step()
        opt.optimizer.zero_grad()
        rates.append(opt._rate)
    return rates, model

# %% [0] the optimizer from a table of names with kwargs
def build_optimizer(name, params, **kw):
    table = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "rmsprop": torch.optim.RMSprop}
    return table[name](params, **kw)

def run():
    out = []
    for name, kw in [("sgd", {"lr": 0.1, "momentum": 0.9}), ("adamw", {"lr": 0.01, "weight_decay": 0.1}), ("rmsprop", {"lr": 0.01})]:
        m = fill(nn.Linear(3, 1))
        opt = build_optimizer(name, m.parameters(), **kw)
        for i in range(2):
            opt.zero_grad()
            m(data(4, 3, seed=i)).pow(2).mean().backward()
            opt.step()
        out.append(m)
    return out

# %% [0] getattr of torch.optim by a string
def run():
    cfg = {"type": "Adam", "lr": 0.05}
    m = fill(nn.Linear(3, 1))
    opt = getattr(torch.optim, cfg["type"])(m.parameters(), lr=cfg["lr"])
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [0] different rates for backbone and head, printed
def run():
    net = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    optimizer = torch.optim.SGD([
        {"params": net[0].parameters()},
        {"params": net[2].parameters(), "lr": 0.5, "weight_decay": 0.1},
    ], lr=0.05, momentum=0.9)
    for i in range(3):
        optimizer.zero_grad()
        F.cross_entropy(net(data(4, 3, seed=i)), labels(4, 2)).backward()
        optimizer.step()
    return [g["lr"] for g in optimizer.param_groups], len(optimizer.param_groups[1]["params"]), net

# %% [0] layer-wise decay of the rate by names
def get_groups(model, base_lr, decay):
    groups = []
    names = [n for n, _ in model.named_parameters()]
    for i, (name, p) in enumerate(model.named_parameters()):
        wd = 0.0 if name.endswith("bias") or p.ndim == 1 else 0.05
        groups.append({"params": [p], "lr": base_lr * decay ** (len(names) - i - 1), "weight_decay": wd, "name": name})
    return groups

def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2)))
    opt = torch.optim.AdamW(get_groups(m, 0.1, 0.5))
    for i in range(2):
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return [(g["name"], g["lr"]) for g in opt.param_groups], m

# %% [7] warm-up by hand through param_groups
def adjust_learning_rate(optimizer, step, base):
    lr = base * (step + 1) / 3 if step < 3 else base * 0.5 * (1 + np.cos(np.pi * (step - 3) / 3))
    for param_group in optimizer.param_groups:
        if "lr_scale" in param_group:
            param_group["lr"] = lr * param_group["lr_scale"]
        else:
            param_group["lr"] = lr
    return lr

def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1)))
    opt = torch.optim.SGD([{"params": m[0].parameters(), "lr_scale": 0.1}, {"params": m[1].parameters()}], lr=0.0)
    rates = []
    for step in range(5):
        adjust_learning_rate(opt, step, 0.2)
        loss = m(data(4, 3, seed=step)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        rates.append([round(g["lr"], 6) for g in opt.param_groups])
    return rates, m

# %% [7] a cosine schedule per batch after a warm-up
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.AdamW(m.parameters(), lr=0.1)
    warm = torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.1, total_iters=2)
    cos = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=4)
    sched = torch.optim.lr_scheduler.SequentialLR(opt, [warm, cos], milestones=[2])
    rates = []
    for i in range(5):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
        sched.step()
        rates.append(sched.get_last_lr()[0])
    return rates, m

# %% [7] a scheduler class of the program
class PolyLR(torch.optim.lr_scheduler._LRScheduler):
    def __init__(self, optimizer, max_iters, power=0.9, last_epoch=-1):
        self.power = power
        self.max_iters = max_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base_lr * (1 - self.last_epoch / self.max_iters) ** self.power for base_lr in self.base_lrs]

def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.3)
    sched = PolyLR(opt, 4)
    rates = []
    for i in range(3):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
        rates.append(opt.param_groups[0]["lr"])
        sched.step()
    return rates, m

# %% [0] OneCycleLR per batch with momentum
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.01, momentum=0.9)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.2, steps_per_epoch=3, epochs=2)
    rates = []
    for i in range(6):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
        rates.append((opt.param_groups[0]["lr"], opt.param_groups[0]["momentum"]))
        sched.step()
    return rates, m

# %% [0] the state of the optimizer is cleared by hand
from collections import defaultdict

def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    for i in range(4):
        if i == 2:
            opt.state = defaultdict(dict)
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [0] exp_avg read from the optimizer's state
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return opt.state[m.weight]["exp_avg"], opt.state[m.bias]["exp_avg_sq"]

# %% [0] gradient centralisation before the step
def centralize(model):
    for p in model.parameters():
        if p.grad is not None and p.grad.dim() > 1:
            p.grad.data.add_(-p.grad.data.mean(dim=tuple(range(1, p.grad.dim())), keepdim=True))

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        centralize(m)
        opt.step()
    return m

# %% [0] the global norm of gradients is logged
def grad_norm(parameters):
    total = 0.0
    for p in parameters:
        if p.grad is not None:
            total += p.grad.detach().data.norm(2).item() ** 2
    return total ** 0.5

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    norms = []
    for i in range(2):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        norms.append(grad_norm(m.parameters()))
        opt.step()
    return norms

# %% [0] LBFGS with a closure
def run():
    m = fill(nn.Linear(3, 1))
    x, y = data(6, 3), data(6, 1, seed=3)
    opt = torch.optim.LBFGS(m.parameters(), lr=0.5, max_iter=4)
    log = []

    def closure():
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        return loss

    for _ in range(2):
        log.append(float(opt.step(closure)))
    return log, m

# %% [0] SGD with a closure that is called by step
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(3):
        def closure():
            opt.zero_grad()
            loss = m(data(4, 3, seed=i)).pow(2).mean()
            loss.backward()
            return loss
        log.append(opt.step(closure).item())
    return log, m

# %% [0] GradScaler off the GPU
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler(enabled=torch.cuda.is_available())
    for i in range(3):
        opt.zero_grad()
        with torch.cuda.amp.autocast(enabled=torch.cuda.is_available()):
            loss = m(data(4, 3, seed=i)).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(m.parameters(), 0.5)
        scaler.step(opt)
        scaler.update()
    return m

# %% [0] LBFGS of a model in several steps, with a counter and a shared closure
class Fit:
    def __init__(self):
        self.net = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
        self.optimizer = torch.optim.LBFGS(self.net.parameters(), lr=0.8, max_iter=5, history_size=3)
        self.calls = 0

    def closure(self):
        self.calls += 1
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.net(self.x), self.y)
        loss.backward()
        return loss

    def fit(self, x, y):
        self.x, self.y = x, y
        return [self.optimizer.step(self.closure).item() for _ in range(3)]


def run():
    fit = Fit()
    losses = fit.fit(data(8, 3), data(8, 1, seed=2))
    return losses, fit.calls, fit.net[0].weight.detach()

# %% [0] LBFGS for a plain tensor
def run():
    x = torch.tensor([1.5, -0.7], requires_grad=True)
    opt = torch.optim.LBFGS([x], lr=0.1, max_iter=6)

    def closure():
        opt.zero_grad()
        loss = (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
        loss.backward()
        return loss

    return [opt.step(closure).item() for _ in range(2)], x.detach()

# %% [0] an optimizer by name alone that holds another one
class Lookahead(torch.optim.Optimizer):
    def __init__(self, base, k=3, alpha=0.5):
        self.base, self.k, self.alpha = base, k, alpha
        self.param_groups = base.param_groups
        self.counter = 0
        self.slow = [[p.detach().clone() for p in g["params"]] for g in self.param_groups]

    def zero_grad(self, set_to_none=True):
        self.base.zero_grad(set_to_none)

    @torch.no_grad()
    def step(self, closure=None):
        loss = self.base.step(closure)
        self.counter += 1
        if self.counter % self.k == 0:
            for group, slows in zip(self.param_groups, self.slow):
                for p, q in zip(group["params"], slows):
                    q.add_(p.detach() - q, alpha=self.alpha)
                    p.copy_(q)
        return loss

def run():
    net = fill(nn.Linear(4, 3))
    opt = Lookahead(torch.optim.Adam(net.parameters(), lr=0.1), k=2)
    losses = []
    for i in range(5):
        opt.zero_grad()
        loss = F.cross_entropy(net(data(6, 4, seed=i)), labels(6, 3, seed=i))
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, net

# %% [1] a second moment that changes in the middle of an expression
from adabelief import AdaBelief


def run():
    net = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
    decay = [p for n, p in net.named_parameters() if p.ndim > 1]
    no_decay = [p for n, p in net.named_parameters() if p.ndim <= 1]
    opt = AdaBelief([{"params": decay, "weight_decay": 0.1}, {"params": no_decay}], lr=0.02)
    log = []
    for i in range(5):
        def closure():
            opt.zero_grad()
            loss = F.mse_loss(net(data(4, 4, seed=i)), data(4, 1, seed=i + 20))
            loss.backward()
            return loss
        log.append(opt.step(closure).item())
    return log, net
# --- adabelief.py
import math
from torch.optim.optimizer import Optimizer


class AdaBelief(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
        if not 0.0 <= lr:
            raise ValueError("Invalid learning rate: {}".format(lr))
        super(AdaBelief, self).__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad.data
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p.data)
                    state["exp_avg_var"] = torch.zeros_like(p.data)
                p.data.mul_(1.0 - group["lr"] * group["weight_decay"])
                m, s = state["exp_avg"], state["exp_avg_var"]
                state["step"] += 1
                m.mul_(beta1).add_(grad, alpha=1 - beta1)
                res = grad - m
                s.mul_(beta2).addcmul_(res, res, value=1 - beta2)
                denom = (s.add_(group["eps"]).sqrt() / math.sqrt(1 - beta2 ** state["step"])).add_(group["eps"])
                p.data.addcdiv_(m, denom, value=-group["lr"] / (1 - beta1 ** state["step"]))
        return loss
