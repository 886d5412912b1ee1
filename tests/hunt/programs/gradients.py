# %% [3] the norm of the encoder only is clipped
def run():
    enc, dec = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 1), seed=5)
    opt = torch.optim.SGD(list(enc.parameters()) + list(dec.parameters()), lr=0.5)
    for i in range(2):
        opt.zero_grad()
        loss = dec(torch.tanh(enc(data(4, 3, seed=i) * 5))).pow(2).sum()
        loss.backward()
        nn.utils.clip_grad_norm_(enc.parameters(), 0.1)
        opt.step()
    return enc, dec

# %% [3] each part clipped by its own norm
def run():
    enc, dec = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 1), seed=5)
    opt = torch.optim.SGD(list(enc.parameters()) + list(dec.parameters()), lr=0.5)
    norms = []
    for i in range(2):
        opt.zero_grad()
        loss = dec(torch.tanh(enc(data(4, 3, seed=i) * 5))).pow(2).sum()
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(enc.parameters(), 0.1)))
        norms.append(float(torch.nn.utils.clip_grad_norm_(dec.parameters(), 0.2)))
        opt.step()
    return enc, dec, norms

# %% [3] one parameter is clipped
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i) * 3).pow(2).sum().backward()
        nn.utils.clip_grad_norm_([m[0].weight], 0.1)
        opt.step()
    return m

# %% [3] clip_grad_value_ of the head
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i) * 3).pow(2).sum().backward()
        nn.utils.clip_grad_value_(m[1].parameters(), 0.05)
        opt.step()
    return m

# %% [3] clipping by the infinity norm and the 1-norm
def run():
    out = []
    for kind in (float("inf"), 1, 2.0):
        m = fill(nn.Linear(3, 2))
        opt = torch.optim.SGD(m.parameters(), lr=0.5)
        opt.zero_grad()
        m(data(4, 3) * 3).pow(2).sum().backward()
        n = nn.utils.clip_grad_norm_(m.parameters(), max_norm=0.1, norm_type=kind)
        opt.step()
        out.append((float(n), m))
    return out

# %% [3] the whole model is clipped
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    norms = []
    for i in range(3):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).sum().backward()
        norms.append(torch.nn.utils.clip_grad_norm_(m.parameters(), 0.5).item())
        opt.step()
    return norms, m

# %% [3] clipping of the filtered parameters
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i) * 3).pow(2).sum().backward()
        params = [p for n, p in m.named_parameters() if "weight" in n]
        nn.utils.clip_grad_norm_(params, 0.1)
        opt.step()
    return m

# %% [3] clipping by a group of the optimizer
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1)))
    opt = torch.optim.SGD([{"params": m[0].parameters()}, {"params": m[1].parameters(), "lr": 0.1}], lr=0.5)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i) * 3).pow(2).sum().backward()
        for group in opt.param_groups:
            nn.utils.clip_grad_norm_(group["params"], 0.2)
        opt.step()
    return m

# %% [4] an unused layer does not decay
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 2)
        self.unused = nn.Linear(3, 2)

    def forward(self, x):
        return self.a(x)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1, weight_decay=0.5, momentum=0.9)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [4] alternating heads with momentum
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
        self.heads = nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 1)])

    def forward(self, x, task):
        return self.heads[task](torch.tanh(self.body(x)))

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    for i in range(4):
        opt.zero_grad()
        m(data(4, 3, seed=i), i % 2).pow(2).mean().backward()
        opt.step()
    return m

# %% [4] a block that is skipped by a flag
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)

    def forward(self, x, skip=False):
        x = self.a(x)
        if not skip:
            x = x + self.b(x)
        return x

def run():
    m = fill(Net())
    opt = torch.optim.AdamW(m.parameters(), lr=0.1, weight_decay=0.1)
    for i in range(3):
        opt.zero_grad()
        m(data(4, 3, seed=i), skip=(i == 1)).pow(2).mean().backward()
        opt.step()
    return m

# %% [4] a detached encoder with weight decay
def run():
    enc, head = fill(nn.Linear(3, 3)), fill(nn.Linear(3, 1), seed=3)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1, weight_decay=0.3)
    for i in range(2):
        opt.zero_grad()
        head(enc(data(4, 3, seed=i)).detach()).pow(2).mean().backward()
        opt.step()
    return enc, head

# %% [4] Adam keeps unused parameters
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 2)
        self.extra = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return self.a(x)

def run():
    m = fill(Net())
    opt = torch.optim.Adam(m.parameters(), lr=0.1, weight_decay=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [4] the grads of unused parameters are None
def run():
    m = fill(nn.ModuleList([nn.Linear(2, 1), nn.Linear(2, 1)]))
    m[0](data(3, 2)).sum().backward()
    return [p.grad is None for p in m.parameters()], m[0].weight.grad

# %% [4] zero_grad(set_to_none=False) lets momentum go on
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 1)])

    def forward(self, x, k):
        return self.heads[k](x)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    for i in range(4):
        opt.zero_grad(set_to_none=False)
        m(data(4, 3, seed=i), i % 2).pow(2).mean().backward()
        opt.step()
    return m

# %% [6] a hidden state of an earlier name
def run():
    cell, head = fill(nn.Linear(3, 3)), fill(nn.Linear(3, 3), seed=4)
    opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    state = torch.zeros(2, 3)
    out_losses = []
    for i in range(3):
        x = data(2, 3, seed=i)
        out = torch.tanh(cell(x + state))
        state = out.detach()
        out = head(out)
        loss = out.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        out_losses.append(loss.item())
    return out_losses

# %% [6] a count taken before the name is used again
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    counts = []
    for i in range(3):
        out = m(data(4, 3, seed=i))
        n_pos = (out > 0).sum()
        out = out * -1
        loss = out.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        counts.append(int(n_pos))
    return counts

# %% [6] accuracy before the logits are scaled
def run():
    m = fill(nn.Linear(3, 3))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    acc = []
    for i in range(3):
        y = labels(6, 3, seed=i)
        logits = m(data(6, 3, seed=i))
        acc.append((logits.argmax(1) == y).float().mean().item())
        logits = -logits / 0.5
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        acc.append((logits.argmax(1) == y).float().mean().item())
    return acc

# %% [6] the loss is rebound with a penalty
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(3):
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        plain = loss.item()
        loss = loss + 0.1 * sum(p.abs().sum() for p in m.parameters())
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((plain, loss.item()))
    return log

# %% [6] inputs normalised under the same name
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(2):
        x = data(4, 3, seed=i)
        mean = x.mean()
        x = (x - mean) / x.std()
        x = m(x)
        loss = x.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log += [mean.item(), x.sum().item()]
    return log

# %% [6] a metric read after the step
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    log = []
    for i in range(2):
        x = data(4, 3, seed=i)
        pred = m(x)
        loss = pred.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(pred.abs().mean().item())
        pred = m(x)
        log.append(pred.abs().mean().item())
    return log

# %% [14] a GAN whose D gradients include the generator's pass
def run():
    G, D = fill(nn.Linear(2, 3)), fill(nn.Linear(3, 1), seed=7)
    og = torch.optim.SGD(G.parameters(), lr=0.1)
    od = torch.optim.SGD(D.parameters(), lr=0.1)
    for i in range(2):
        fake = G(data(4, 2, seed=i))
        lg = -D(fake).mean()
        og.zero_grad()
        lg.backward()
        og.step()
        ld = D(fake.detach()).mean() - D(data(4, 3, seed=i)).mean()
        ld.backward()
        od.step()
        od.zero_grad()
    return G, D

# %% [14] two losses before two steps
def run():
    G, D = fill(nn.Linear(2, 3)), fill(nn.Linear(3, 1), seed=7)
    og = torch.optim.SGD(G.parameters(), lr=0.1)
    od = torch.optim.SGD(D.parameters(), lr=0.1)
    for i in range(2):
        og.zero_grad()
        od.zero_grad()
        fake = G(data(4, 2, seed=i))
        lg = F.softplus(-D(fake)).mean()
        lg.backward()
        ld = F.softplus(D(fake.detach())).mean()
        ld.backward()
        og.step()
        od.step()
    return G, D

# %% [14] the usual order: D, then G
def run():
    G, D = fill(nn.Linear(2, 3)), fill(nn.Linear(3, 1), seed=7)
    og = torch.optim.Adam(G.parameters(), lr=0.1)
    od = torch.optim.Adam(D.parameters(), lr=0.1)
    log = []
    for i in range(3):
        real, z = data(4, 3, seed=i), data(4, 2, seed=i + 9)
        od.zero_grad()
        fake = G(z)
        ld = F.binary_cross_entropy_with_logits(D(real), torch.ones(4, 1)) + F.binary_cross_entropy_with_logits(D(fake.detach()), torch.zeros(4, 1))
        ld.backward()
        od.step()
        og.zero_grad()
        lg = F.binary_cross_entropy_with_logits(D(fake), torch.ones(4, 1))
        lg.backward()
        og.step()
        log.append((ld.item(), lg.item()))
    return log

# %% [14] actor and critic from one body
def run():
    body, pi, v = fill(nn.Linear(3, 3)), fill(nn.Linear(3, 2), seed=1), fill(nn.Linear(3, 1), seed=2)
    oa = torch.optim.SGD([*body.parameters(), *pi.parameters()], lr=0.1)
    oc = torch.optim.SGD(v.parameters(), lr=0.1)
    for i in range(2):
        x = data(4, 3, seed=i)
        h = torch.tanh(body(x))
        value = v(h)
        adv = 1.0 - value
        la = -(F.log_softmax(pi(h), 1)[:, 0] * adv.detach().squeeze(1)).mean()
        lc = adv.pow(2).mean()
        oa.zero_grad()
        la.backward(retain_graph=True)
        oc.zero_grad()
        lc.backward()
        oa.step()
        oc.step()
    return body, pi, v

# %% [14] two backward passes, one step
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        m(data(4, 3, seed=i + 5)).abs().mean().backward()
        opt.step()
    return m

# %% [0] gradients accumulated over four batches
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    opt.zero_grad()
    for i in range(8):
        loss = m(data(4, 3, seed=i)).pow(2).mean() / 4
        loss.backward()
        if (i + 1) % 4 == 0:
            opt.step()
            opt.zero_grad()
    return m

# %% [0] optimizers in a row
def run():
    out = []
    for cls, kw in [(torch.optim.SGD, {"lr": 0.1}), (torch.optim.Adam, {"lr": 0.1}), (torch.optim.AdamW, {"lr": 0.1}), (torch.optim.RMSprop, {"lr": 0.01}), (torch.optim.Adagrad, {"lr": 0.1})]:
        m = fill(nn.Linear(3, 2))
        opt = cls(m.parameters(), **kw)
        for i in range(3):
            opt.zero_grad()
            m(data(4, 3, seed=i)).pow(2).mean().backward()
            opt.step()
        out.append(m)
    return out

# %% [0] schedules
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=4)
    rates = []
    for i in range(4):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
        sched.step()
        rates.append(sched.get_last_lr()[0])
    return rates, m

# %% [0] ReduceLROnPlateau
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1, factor=0.5)
    rates = []
    for v in [1.0, 1.0, 1.0, 0.5, 0.6, 0.7, 0.8]:
        opt.zero_grad()
        m(data(4, 3)).pow(2).mean().backward()
        opt.step()
        sched.step(v)
        rates.append(opt.param_groups[0]["lr"])
    return rates

# %% [0] LambdaLR with a warm-up
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.AdamW(m.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 3))
    for i in range(4):
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        sched.step()
        opt.zero_grad()
    return m, sched.get_last_lr()

# %% [0] groups with and without decay
def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.Linear(3, 1)))
    decay = [p for n, p in m.named_parameters() if p.dim() > 1]
    rest = [p for n, p in m.named_parameters() if p.dim() <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.5}, {"params": rest, "weight_decay": 0.0}], lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return [p for p in m.parameters()], len(opt.param_groups)

# %% [0] grad of an input by autograd.grad
def run():
    m = fill(nn.Linear(3, 1))
    x = data(4, 3).requires_grad_(True)
    y = m(x).pow(2).sum()
    g = torch.autograd.grad(y, x)[0]
    return g

# %% [0] gradient penalty
def run():
    D = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    opt = torch.optim.SGD(D.parameters(), lr=0.1)
    for i in range(2):
        x = data(4, 3, seed=i).requires_grad_(True)
        out = D(x)
        g = torch.autograd.grad(outputs=out.sum(), inputs=x, create_graph=True)[0]
        loss = out.mean() + ((g.norm(2, dim=1) - 1) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return D

# %% [25] PGD with delta.grad
def run():
    m = fill(nn.Linear(3, 2))
    x, y = data(4, 3), labels(4, 2)
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(3):
        loss = F.cross_entropy(m(x + delta), y)
        loss.backward()
        delta.data = (delta + 0.1 * delta.grad.detach().sign()).clamp(-0.2, 0.2)
        delta.grad.zero_()
    return delta.detach()

# %% [25] FGSM
def run():
    m = fill(nn.Linear(3, 2))
    x, y = data(4, 3), labels(4, 2)
    x.requires_grad = True
    loss = F.cross_entropy(m(x), y)
    m.zero_grad()
    loss.backward()
    return x + 0.1 * x.grad.data.sign(), x.grad

# %% [25] PGD in a function with autograd.grad
def pgd(model, x, y, eps, alpha, steps):
    adv = x.clone().detach()
    for _ in range(steps):
        adv.requires_grad_()
        with torch.enable_grad():
            loss = F.cross_entropy(model(adv), y)
        grad = torch.autograd.grad(loss, [adv])[0]
        adv = adv.detach() + alpha * torch.sign(grad.detach())
        adv = torch.min(torch.max(adv, x - eps), x + eps)
    return adv

def run():
    return pgd(fill(nn.Linear(3, 2)), data(4, 3), labels(4, 2), 0.2, 0.1, 3)

# %% [25] an image optimised by Adam
def run():
    img = data(1, 3).clone().requires_grad_(True)
    opt = torch.optim.Adam([img], lr=0.1)
    for _ in range(3):
        opt.zero_grad()
        loss = ((img - 1) ** 2).sum()
        loss.backward()
        opt.step()
    return img.detach()

# %% [25] add_param_group before the first step
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=3)
    opt = torch.optim.SGD(a.parameters(), lr=0.1)
    opt.add_param_group({"params": b.parameters(), "lr": 0.01})
    for i in range(2):
        opt.zero_grad()
        x = data(4, 3, seed=i)
        (a(x) + b(x)).pow(2).mean().backward()
        opt.step()
    return a, b, [g["lr"] for g in opt.param_groups]

# %% [25] an optimizer bound under an if only
def run(kind="sgd"):
    m = fill(nn.Linear(3, 2))
    if kind == "sgd":
        opt = torch.optim.SGD(m.parameters(), lr=0.1)
    elif kind == "adam":
        opt = torch.optim.Adam(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [25] an input of the step bound under an if only
def run(mixup=True):
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        x = data(4, 3, seed=i)
        if mixup:
            lam = 0.3
            x2 = x.flip(0)
        opt.zero_grad()
        if mixup:
            out = m(lam * x + (1 - lam) * x2)
        else:
            out = m(x)
        loss = out.pow(2).mean()
        loss.backward()
        opt.step()
    return m

# %% [25] an optimizer wrapper in another file
from wrapper import NoamOpt

def run():
    m = fill(nn.Linear(3, 2))
    opt = NoamOpt(torch.optim.SGD(m.parameters(), lr=0.0), 4, 2)
    log = []
    for i in range(3):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m
# --- wrapper.py
class NoamOpt:
    def __init__(self, optimizer, size, warmup):
        self.optimizer = optimizer
        self.size, self.warmup, self.n = size, warmup, 0

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.n += 1
        rate = self.size ** -0.5 * min(self.n ** -0.5, self.n * self.warmup ** -1.5)
        for p in self.optimizer.param_groups:
            p["lr"] = rate
        self.optimizer.step()

# %% [25] an optimizer wrapper in the same file
class ScheduledOptim:
    def __init__(self, optimizer):
        self._optimizer = optimizer
        self.n = 0

    def step_and_update_lr(self):
        self.n += 1
        for g in self._optimizer.param_groups:
            g["lr"] = 0.1 / self.n
        self._optimizer.step()

    def zero_grad(self):
        self._optimizer.zero_grad()

def run():
    m = fill(nn.Linear(3, 2))
    opt = ScheduledOptim(torch.optim.Adam(m.parameters(), lr=0.1, betas=(0.9, 0.98), eps=1e-09))
    for i in range(3):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step_and_update_lr()
    return m

# %% [0] a Trainer class with methods
class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.history = []

    def train_step(self, x, y):
        self.model.train()
        self.opt.zero_grad()
        logits = self.model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        self.opt.step()
        self.history.append(loss.item())
        return (logits.argmax(1) == y).sum().item()

def run():
    t = Trainer(fill(nn.Linear(3, 3)), 0.2)
    right = [t.train_step(data(6, 3, seed=i), labels(6, 3, seed=i)) for i in range(3)]
    return right, t.history

# %% [0] a custom autograd Function
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        Square.apply(m(data(4, 3, seed=i))).mean().backward()
        opt.step()
    return m

# %% [0] straight-through estimator
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        h = m(data(4, 3, seed=i))
        hard = (h > 0).float()
        st = hard + h - h.detach()
        loss = st.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return m

# %% [0] a loss in a module with parameters of its own
class Center(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.centers = nn.Parameter(torch.zeros(n, d))

    def forward(self, x, y):
        return (x - self.centers[y]).pow(2).sum(1).mean()

def run():
    m, c = fill(nn.Linear(3, 2)), fill(Center(3, 2), seed=4)
    om = torch.optim.SGD(m.parameters(), lr=0.1)
    oc = torch.optim.SGD(c.parameters(), lr=0.5)
    for i in range(2):
        loss = c(m(data(4, 3, seed=i)), labels(4, 3, seed=i))
        om.zero_grad()
        oc.zero_grad()
        loss.backward()
        om.step()
        oc.step()
    return m, c

# %% [6] an attack that passes over what is wrong already
def attack(image, epsilon, grad):
    return torch.clamp(image + epsilon * grad.sign(), -1, 1)


def run():
    model = fill(nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))).eval()
    kept, correct = [], 0
    for i in range(6):
        x, target = data(1, 6, seed=i), labels(1, 3, seed=i)
        x.requires_grad = True
        output = model(x)
        init_pred = output.max(1, keepdim=True)[1]
        if init_pred.item() != target.item():
            continue
        loss = F.nll_loss(F.log_softmax(output, dim=1), target)
        model.zero_grad()
        loss.backward()
        perturbed = attack(x, 0.3, x.grad.data)
        correct += (model(perturbed).argmax(1) == target).sum().item()
        kept.append(perturbed.detach())
    return correct, kept

# %% [6] an input's gradient, and a score that decides about it
def run():
    net = fill(nn.Linear(4, 3))
    skipped, sums = 0, []
    for i in range(5):
        x = data(2, 4, seed=i).requires_grad_()
        out = net(x)
        score = out.max().item()
        sure = score > 1.0
        if sure:
            skipped += 1
            continue
        F.cross_entropy(out, labels(2, 3, seed=i)).backward()
        sums.append(x.grad.abs().sum().item())
    return skipped, sums


# %% [0] losses in a dict beside the gradient of an input
def losses_of(x):
    return {"sq": (x ** 2).sum(), "abs": x.abs().sum()}

def run():
    x = data(3).requires_grad_()
    losses = losses_of(x)
    total = sum(losses.values())
    total.backward()
    parts = [v.item() for v in losses.values()]
    return total.item(), parts, x.grad


# %% [0] the gradient of a sum whose parts are read later
def run():
    x = data(2, 3).requires_grad_()
    y = x**2
    y.sum().backward()
    z = data(3).requires_grad_()
    w = z * 3
    torch.sum(w).backward()
    return y.detach(), x.grad, w.detach(), z.grad

# %% [0] gradients of gradients for a list of fast weights
def functional(x, w):
    h = torch.relu(F.linear(x, w[0], w[1]))
    return F.linear(h, w[2], w[3])


def run():
    net = fill(nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 1)))
    meta = torch.optim.SGD(net.parameters(), lr=1e-2)
    log = []
    for it in range(3):
        meta_loss = 0.0
        for task in range(2):
            xs, ys = data(4, 2, seed=10 * it + task), data(4, 1, seed=10 * it + task + 5)
            xq, yq = data(4, 2, seed=10 * it + task + 100), data(4, 1, seed=10 * it + task + 105)
            fast = list(net.parameters())
            for k in range(2):
                loss = F.mse_loss(functional(xs, fast), ys)
                grad = torch.autograd.grad(loss, fast, create_graph=True)
                fast = [w - 0.1 * g for w, g in zip(fast, grad)]
            meta_loss = meta_loss + F.mse_loss(functional(xq, fast), yq)
        meta_loss /= 2
        meta.zero_grad()
        meta_loss.backward()
        meta.step()
        log.append(meta_loss.item())
    return log, net

# %% [0] a penalty in a function of outputs and inputs
def d_r1_loss(real_pred, real_img):
    grad_real, = torch.autograd.grad(outputs=real_pred.sum(), inputs=real_img, create_graph=True)
    grad_penalty = grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()

    return grad_penalty


def run():
    d = fill(nn.Sequential(nn.Linear(4, 6), nn.Softplus(), nn.Linear(6, 1)))
    opt = torch.optim.SGD(d.parameters(), lr=0.05)
    log = []
    r1_loss = torch.tensor(0.0)
    for i in range(4):
        real = data(5, 4, seed=i)
        loss = F.softplus(-d(real)).mean()
        d.zero_grad()
        loss.backward()
        opt.step()
        if i % 2 == 0:
            real.requires_grad = True
            real_pred = d(real)
            r1_loss = d_r1_loss(real_pred, real)
            d.zero_grad()
            (5.0 * r1_loss * 2 + 0 * real_pred[0]).sum().backward()
            opt.step()
        log.append((loss.item(), r1_loss.item()))
    return log, d

# %% [0] a penalty in a function beside the step, in another file
from trainer import Trainer


def run():
    d = fill(nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1)))
    t = Trainer(d)
    return [t.step(data(5, 4, seed=i), data(5, 4, seed=i + 30)) for i in range(3)], d
# --- trainer.py
def r1_reg(d_out, x_in):
    # zero-centered gradient penalty for real images
    batch_size = x_in.size(0)
    grad_dout = torch.autograd.grad(
        outputs=d_out.sum(), inputs=x_in,
        create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    grad_dout2 = grad_dout.pow(2)
    assert (grad_dout2.size() == x_in.size())
    reg = 0.5 * grad_dout2.view(batch_size, -1).sum(1).mean(0)
    return reg


def adv_loss(logits, target):
    assert target in [1, 0]
    targets = torch.full_like(logits, fill_value=target)
    loss = F.binary_cross_entropy_with_logits(logits, targets)
    return loss


class Trainer:
    def __init__(self, d):
        self.d, self.lambda_reg = d, 0.7
        self.opt = torch.optim.SGD(d.parameters(), lr=0.1)

    def compute_d_loss(self, x_real, x_fake):
        x_real.requires_grad_()
        out = self.d(x_real)
        loss_real = adv_loss(out, 1)
        loss_reg = r1_reg(out, x_real)
        out = self.d(x_fake)
        loss_fake = adv_loss(out, 0)
        loss = loss_real + loss_fake + self.lambda_reg * loss_reg
        return loss, dict(real=loss_real.item(), fake=loss_fake.item(), reg=loss_reg.item())

    def step(self, x_real, x_fake):
        d_loss, d_losses = self.compute_d_loss(x_real, x_fake)
        self.opt.zero_grad()
        d_loss.backward()
        self.opt.step()
        return d_loss.item(), d_losses

# %% [0] a penalty in a method of outputs and inputs
class Trainer:
    def __init__(self, d, reg_param):
        self.d, self.reg_param = d, reg_param
        self.opt = torch.optim.RMSprop(d.parameters(), lr=0.01)

    def compute_grad2(self, d_out, x_in):
        batch_size = x_in.size(0)
        grad_dout = torch.autograd.grad(outputs=d_out.sum(), inputs=x_in, create_graph=True, retain_graph=True, only_inputs=True)[0]
        grad_dout2 = grad_dout.pow(2)
        reg = grad_dout2.view(batch_size, -1).sum(1)
        return reg

    def discriminator_trainstep(self, x_real):
        self.opt.zero_grad()
        x_real.requires_grad_()
        d_real = self.d(x_real)
        dloss_real = F.binary_cross_entropy_with_logits(d_real, torch.ones_like(d_real))
        dloss_real.backward(retain_graph=True)
        reg = self.reg_param * self.compute_grad2(d_real, x_real).mean()
        reg.backward()
        self.opt.step()
        return dloss_real.item(), reg.item()


def run():
    d = fill(nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1)))
    t = Trainer(d, 10.0)
    return [t.discriminator_trainstep(data(5, 4, seed=i)) for i in range(3)], d

# %% [0] a distribution among what the gradient's function keeps
from torch.distributions import Normal

def run():
    mu = data(3, 2).requires_grad_()
    std = data(3, 2, seed=4).exp()
    u = mu + std * 0.5
    d = Normal(mu, std)
    a = torch.tanh(u * 0.2)
    lp = (d.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(1, keepdim=True)
    lp.mean().backward()
    return a, lp, mu.grad, d.entropy().sum(-1)

# %% [0] indices read beside a loss whose gradient is taken at the input
def run():
    logits = data(3, 4).requires_grad_()
    index = logits.max(-1, keepdim=True)[1]
    hard = torch.zeros_like(logits).scatter_(-1, index, 1.0)
    soft = F.softmax(logits, dim=-1)
    ((hard - soft.detach() + soft) * torch.arange(4.0)).sum().backward()
    return index, hard, logits.grad

# %% [0] sorted positions beside a gradient at the input
def run():
    x = data(5).requires_grad_()
    values, order = x.sort(descending=True)
    (values * torch.arange(5.0)).sum().backward()
    return order, values, x.grad

# %% [0] a prediction and its class beside a saliency map
def run():
    net = fill(nn.Sequential(nn.Linear(4, 3)))
    x = data(2, 4).requires_grad_()
    out = net(x)
    score, cls = out.max(1)
    score.sum().backward()
    return cls, score.detach(), x.grad.abs(), cls.eq(torch.tensor([0, 1])).sum()

# %% [0] two networks that share a layer, without an optimizer
class Head(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.out = nn.Linear(3, 2)

    def forward(self, x):
        return self.out(torch.tanh(self.body(x)))

def run():
    body = nn.Linear(3, 3)
    first, second = fill(Head(body)), fill(Head(body), seed=4)
    x = data(4, 3)
    loss = first(x).pow(2).mean() + second(x).abs().mean()
    loss.backward()
    again = fill(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1)), seed=2)
    both = again(x).sum() + again[0](x).pow(2).sum()
    both.backward()
    grads = [p.grad for p in body.parameters()] + [first.out.weight.grad, second.out.weight.grad]
    return loss, grads, [p.grad for p in again.parameters()]
