# %% [14] the gradients that a generator's loss leaves at the critic
def run():
    G, D = fill(nn.Linear(2, 3)), fill(nn.Linear(3, 1), 1)
    og, od = torch.optim.SGD(G.parameters(), 0.1), torch.optim.SGD(D.parameters(), 0.1)
    log = []
    for i in range(3):
        fake = G(data(4, 2, seed=10 + i))
        D.zero_grad()
        ld = D(fake.detach()).mean() - D(data(4, 3, seed=i)).mean()
        ld.backward()
        od.step()
        G.zero_grad()
        lg = -D(fake).pow(2).mean()
        lg.backward()
        og.step()
        log.append([p.grad.sum().item() for p in D.parameters()])
    return log, G, D

# %% [14] the gradients of a body that no optimizer trains
def run():
    body, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 1), 1)
    opt = torch.optim.Adam(head.parameters(), lr=0.05)
    log = []
    for i in range(3):
        opt.zero_grad()
        loss = head(torch.tanh(body(data(5, 3, seed=i)))).pow(2).mean()
        loss.backward()
        opt.step()
        log.append([p.grad.norm().item() for p in (*body.parameters(), *head.parameters())])
    return log, body, head

# %% [14] norms by part in a trainer class, whose optimizer has one part
class Trainer:
    def __init__(self):
        self.enc, self.dec = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 3), 1)
        self.opt = torch.optim.SGD(self.dec.parameters(), lr=0.1)

    def norms(self):
        parts = {"enc": self.enc, "dec": self.dec}
        return {k: sum(p.grad.pow(2).sum().item() for p in m.parameters()) for k, m in parts.items()}

    def step(self, x):
        loss = F.mse_loss(self.dec(torch.relu(self.enc(x))), x)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item(), self.norms()

def run():
    t = Trainer()
    return [t.step(data(4, 3, seed=i)) for i in range(3)], t.enc, t.dec

# %% [17] the counters of batch norms in a loaded checkpoint
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)))
    m(data(4, 3))
    torch.save({"state_dict": m.state_dict(), "epoch": 1}, "c.pt")
    ck = torch.load("c.pt")
    return [(k, tuple(v.shape)) for k, v in ck["state_dict"].items()], len(ck["state_dict"])

# %% [17] a function that cleans the keys of what it is given
def cleaned(state):
    return {k.replace("module.", ""): v for k, v in state.items()}

def run():
    m = nn.DataParallel(fill(nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))))
    new = cleaned(m.state_dict())
    n = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))
    n.load_state_dict(new)
    return list(new), n.eval()(data(1, 1, 4, 4))

# %% [23] rates that were written as whole numbers
def run():
    m = fill(nn.Linear(2, 1))
    opt = torch.optim.SGD([{"params": [m.weight], "lr": 2}, {"params": [m.bias]}], lr=1)
    seen = []
    for i in range(3):
        opt.zero_grad()
        m(data(3, 2, seed=i)).abs().mean().backward()
        opt.step()
        seen.append([g["lr"] for g in opt.param_groups])
        opt.param_groups[0]["lr"] = 1 if i == 0 else 0.5
    print("lr", opt.param_groups[1]["lr"])
    return seen, m

# %% [7] what ReduceLROnPlateau has counted
def run():
    m = fill(nn.Linear(2, 1))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    s = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1, cooldown=1)
    log = []
    for metric in (1.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.4):
        opt.zero_grad()
        m(data(3, 2)).pow(2).mean().backward()
        opt.step()
        s.step(metric)
        log.append((s.num_bad_epochs, s.best, s.cooldown_counter, opt.param_groups[0]["lr"]))
    return log, m

# %% [8] functions whose names sound like networks
def net(x, w, b):
    return torch.tanh(x @ w + b)

def run():
    model = lambda x, w: x @ w
    w, b, v = data(3, 4).requires_grad_(), torch.zeros(4, requires_grad=True), data(4, 1, seed=4).requires_grad_()
    opt = torch.optim.SGD([w, b, v], lr=0.1)
    log = []
    for i in range(3):
        loss = model(net(data(5, 3, seed=i), w, b), v).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, w, b, v

# %% [7] the momentum of batch norms set to nothing and back
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))
    opt = torch.optim.SGD(m.parameters(), 0.1)
    log = []
    for i in range(4):
        for part in m.modules():
            if isinstance(part, nn.BatchNorm1d):
                part.momentum = 0 if i % 2 else 0.1
        opt.zero_grad()
        loss = m(data(5, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        log.append((loss.item(), m[1].running_mean.clone()))
    return log

# %% [16] autocast and GradScaler for a GPU where there is none
def run():
    m = fill(nn.Linear(4, 3))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    log = []
    for i in range(3):
        opt.zero_grad()
        with torch.autocast(device_type="cuda", dtype=torch.float16):
            out = m(data(5, 4, seed=i))
            loss = F.cross_entropy(out, labels(5, 3, seed=i))
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(m.parameters(), 0.5)
        scaler.step(opt)
        scaler.update()
        log.append((loss.item(), str(out.dtype), scaler.get_scale()))
    return log, m, scaler.is_enabled()

# %% [5] hooks by index on a network that was put into evaluation mode at once
def run():
    net = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))).eval()
    seen = {}
    hooks = [net[i].register_forward_hook(lambda m, a, out, i=i: seen.__setitem__(i, out.detach())) for i in (0, 2)]
    y = net(data(2, 3))
    for h in hooks:
        h.remove()
    net(data(1, 3))
    return y, seen, net[0].weight.size(1)

# %% [21] targets written by a mask inside of a step
def run():
    q, target = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), 1)
    opt = torch.optim.RMSprop(q.parameters(), lr=0.01)
    log = []
    for i in range(4):
        mask = torch.tensor([True, i % 2 == 0, i > 1, True])
        nxt = torch.zeros(4)
        nxt[mask] = target(data(4, 3, seed=i)[mask]).max(1).values.detach()
        got = q(data(4, 3, seed=9 + i)).gather(1, labels(4, 2, seed=i).view(-1, 1)).squeeze(1)
        loss = F.smooth_l1_loss(got, data(4, seed=30 + i) + 0.9 * nxt)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, q

# %% [21] a target function that fills by a mask, called in the step
def bootstrapped(reward, done, values):
    out = reward.clone()
    out[~done] += 0.9 * values[~done]
    return out

def run():
    v = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    opt = torch.optim.Adam(v.parameters(), lr=0.01)
    log = []
    for i in range(3):
        s, n = data(5, 3, seed=i), data(5, 3, seed=20 + i)
        done = torch.tensor([False, True, False, i == 1, False])
        with torch.no_grad():
            goal = bootstrapped(data(5, seed=40 + i), done, v(n).squeeze(-1))
        loss = F.mse_loss(v(s).squeeze(-1), goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((loss.item(), goal.sum().item()))
    return log, v

# %% [4] None beside the loss of a step, in some rounds
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 2), nn.Linear(3, 2)

    def forward(self, x, both):
        return self.a(x), (self.b(x) if both else None)

def run():
    m = fill(Two())
    opt = torch.optim.SGD(m.parameters(), 0.1, weight_decay=0.1)
    log = []
    for i in range(4):
        out, extra = m(data(4, 3, seed=i), i == 2)
        loss = out.pow(2).mean()
        if extra is not None:
            loss = loss + extra.abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((loss.item(), extra is None, None if extra is None else extra.sum().item()))
    return log, m

# %% [13] a one-hot target by scatter_ with a single place
def run():
    one = torch.zeros(4).scatter_(0, torch.tensor(2), value=1)
    two = torch.zeros(4).scatter_(0, torch.tensor(1), torch.tensor(3.0))
    return one, two, torch.zeros(4).scatter_add_(0, torch.tensor(0), torch.tensor(2.0))

# %% [0] LBFGS with the strong Wolfe conditions
def run():
    x = torch.linspace(0, 1, 20).unsqueeze(1)
    y = 2 * torch.sin(3 * x) + 0.5
    net = fill(nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1)))
    opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=6, history_size=5, line_search_fn="strong_wolfe")
    hist = []
    for i in range(3):
        def closure():
            opt.zero_grad()
            loss = F.mse_loss(net(x), y)
            loss.backward()
            hist.append(loss.item())
            return loss
        opt.step(closure)
    return len(hist), hist[:12]

# %% [0] Rosenbrock by LBFGS and strong Wolfe
def run():
    p = torch.tensor([-1.2, 1.0], requires_grad=True)
    opt = torch.optim.LBFGS([p], lr=0.5, max_iter=4, line_search_fn="strong_wolfe")
    log = []
    def closure():
        opt.zero_grad()
        loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        loss.backward()
        return loss
    for i in range(6):
        log.append((opt.step(closure).item(), p.detach().clone()))
    return log

# %% [0] a class with its closure as a method
class Fit:
    def __init__(self):
        self.w = nn.Parameter(torch.zeros(3))
        self.x, self.y = data(12, 3), data(12, seed=5)
        self.opt = torch.optim.LBFGS([self.w], line_search_fn="strong_wolfe", max_iter=5, tolerance_grad=1e-5)
        self.calls = 0
    def closure(self):
        self.opt.zero_grad()
        loss = (self.x @ self.w - self.y).abs().pow(1.5).mean()
        loss.backward()
        self.calls += 1
        return loss
    def fit(self):
        return [self.opt.step(self.closure).item() for _ in range(3)]

def run():
    f = Fit()
    return f.fit(), f.calls, f.w

# %% [2] derivatives of one output for several inputs, one after the other
def run():
    net = fill(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    log = []
    for i in range(3):
        x, t = data(6, 1, seed=i).requires_grad_(), data(6, 1, seed=i + 9).requires_grad_()
        u = net(torch.cat([x, t], 1))
        u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
        u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
        u_tt = torch.autograd.grad(u_t, t, torch.ones_like(u_t), create_graph=True)[0]
        loss = (u_tt - u * u_x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((loss.item(), u_x.sum().item()))
    return log, net

# %% [2] a Laplacian in a function of the network
def laplacian(net, x, y):
    u = net(torch.cat([x, y], 1))
    ones = torch.ones_like(u)
    u_x = torch.autograd.grad(u, x, ones, create_graph=True, retain_graph=True)[0]
    u_y = torch.autograd.grad(u, y, ones, create_graph=True, retain_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, ones, create_graph=True)[0]
    u_yy = torch.autograd.grad(u_y, y, ones, create_graph=True)[0]
    return u_xx + u_yy, u

def run():
    net = fill(nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1)))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    log = []
    for i in range(3):
        x, y = data(5, 1, seed=i).requires_grad_(True), data(5, 1, seed=i + 7).requires_grad_(True)
        opt.zero_grad()
        lap, u = laplacian(net, x, y)
        loss = F.mse_loss(lap, torch.zeros_like(lap)) + u.pow(2).mean()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net

# %% [6] weights of samples that the step writes to and reads in the next round
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), 0.2)
    x, y = data(10, 3), labels(10, 2)
    weights = torch.ones(10) / 10
    log = []
    for e in range(3):
        for b in range(0, 10, 5):
            sel = torch.arange(b, b + 5)
            losses = F.cross_entropy(m(x[sel]), y[sel], reduction="none")
            weights[sel] = 0.9 * weights[sel] + 0.1 * losses.detach()
            loss = (losses * weights[sel]).sum() / weights[sel].sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            log.append(loss.item())
    return log, weights, m

# %% [6] a moving average changed in place, which the loss uses
def run():
    m = fill(nn.Linear(3, 4))
    opt = torch.optim.Adam(m.parameters(), 0.05)
    center = torch.zeros(4)
    log = []
    for i in range(4):
        out = m(data(5, 3, seed=i))
        center.mul_(0.9).add_(out.detach().mean(0), alpha=0.1)
        loss = (out - center).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((loss.item(), center.sum().item()))
    return log, center, m

# %% [6] a memory bank in an attribute of a plain class, written to in the step
class Bank:
    def __init__(self):
        self.net, self.bank = fill(nn.Linear(3, 4)), F.normalize(data(6, 4, seed=9), dim=1)
        self.opt = torch.optim.SGD(self.net.parameters(), 0.1)

    def step(self, x, idx):
        z = F.normalize(self.net(x), dim=1)
        self.bank[idx] = 0.5 * self.bank[idx] + 0.5 * z.detach()
        loss = F.cross_entropy(z @ self.bank.t() / 0.5, idx)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

def run():
    b = Bank()
    return [b.step(data(3, 3, seed=i), torch.arange(3) + i) for i in range(4)], b.bank, b.net

# %% [6] counts that the step adds to, read behind the loop
def run():
    m = fill(nn.Linear(3, 3))
    opt = torch.optim.SGD(m.parameters(), 0.1)
    counts = torch.ones(3)
    for i in range(4):
        y = labels(6, 3, seed=i)
        counts.scatter_add_(0, y, torch.ones(6))
        loss = F.cross_entropy(m(data(6, 3, seed=i)), y, weight=counts.sum() / counts)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return counts, m
