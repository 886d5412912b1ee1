# %% [3] the encoder alone is clipped
def run():
    enc, dec = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 1), 1)
    opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(dec(torch.relu(enc(x))), y) * 10
        loss.backward()
        torch.nn.utils.clip_grad_norm_(enc.parameters(), 0.5)
        opt.step()
    return enc, dec

# %% [3] two calls, one for each module, with other bounds
def run():
    enc, dec = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 1), 1)
    opt = torch.optim.SGD(list(enc.parameters()) + list(dec.parameters()), lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    norms = []
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(dec(torch.relu(enc(x))), y) * 10
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(enc.parameters(), 0.5).item())
        norms.append(nn.utils.clip_grad_norm_(dec.parameters(), 0.2).item())
        opt.step()
    return enc, dec, norms

# %% [3] a part of the model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(3):
        opt.zero_grad()
        F.mse_loss(m(x), y).mul(10).backward()
        total = torch.nn.utils.clip_grad_norm_(m.body.parameters(), max_norm=0.3)
        opt.step()
        print("%.4f" % total)
    return m

# %% [3] a generator of the parameters that need gradients
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y) * 20
        loss.backward()
        torch.nn.utils.clip_grad_norm_((p for p in m.parameters() if p.dim() > 1), 0.3)
        opt.step()
    return m

# %% [3] a list that was made before
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    biases = [p for n, p in m.named_parameters() if n.endswith("bias")]
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y) * 20
        loss.backward()
        torch.nn.utils.clip_grad_norm_(biases, 0.3)
        opt.step()
    return m

# %% [3] the norm of infinity, and the norm of one
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    norms = []
    for i in range(4):
        opt.zero_grad()
        (F.mse_loss(m(x), y) * 20).backward()
        norm = nn.utils.clip_grad_norm_(m.parameters(), 0.3, norm_type=float("inf") if i % 2 else 1)
        opt.step()
        norms.append(norm.item())
    return m, norms

# %% [3] values of one module, norm of all
def run():
    enc, dec = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 1), 1)
    opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(dec(torch.relu(enc(x))), y) * 10
        loss.backward()
        nn.utils.clip_grad_value_(dec.parameters(), 0.1)
        nn.utils.clip_grad_norm_([*enc.parameters(), *dec.parameters()], 1.0)
        opt.step()
    return enc, dec

# %% [3] the parameters of a group
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    opt = torch.optim.SGD([{"params": m[0].parameters()}, {"params": m[2].parameters(), "lr": 0.01}], lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(3):
        opt.zero_grad()
        (F.mse_loss(m(x), y) * 20).backward()
        for group in opt.param_groups:
            torch.nn.utils.clip_grad_norm_(group["params"], 0.4)
        opt.step()
    return m

# %% [3] one weight
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        (F.mse_loss(m(x), y) * 20).backward()
        torch.nn.utils.clip_grad_norm_(m.weight, 0.3)
        opt.step()
    return m

# %% [3] two optimizers, each model clipped by itself
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), 1)
    oa, ob = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.Adam(b.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        oa.zero_grad()
        ob.zero_grad()
        loss = F.mse_loss(a(x), y) * 9 + F.mse_loss(b(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(a.parameters(), 0.3)
        torch.nn.utils.clip_grad_norm_(b.parameters(), 0.3)
        oa.step()
        ob.step()
    return a, b

# %% [3] clipped under a condition, and by a function
def clip(params, bound):
    if bound:
        return torch.nn.utils.clip_grad_norm_(params, bound)
    return None

def run():
    enc, dec = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 1), 1)
    opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(4):
        opt.zero_grad()
        loss = F.mse_loss(dec(torch.relu(enc(x))), y) * 10
        loss.backward()
        clip(enc.parameters(), 0.3 if i % 2 else 0)
        opt.step()
    return enc, dec

# %% [3] the model the optimizer holds, by an attribute
class Trainer:
    def __init__(self):
        self.model = fill(nn.Linear(3, 2))
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.clip = 0.4

    def step(self, x, y):
        self.opt.zero_grad()
        loss = F.mse_loss(self.model(x), y) * 20
        loss.backward()
        if self.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.opt.step()
        return loss.item()

def run():
    t = Trainer()
    return [t.step(data(4, 3, seed=i), data(4, 2, seed=i + 5)) for i in range(3)], t.model

# %% [3, 4] clipped by the norm of what is not frozen
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.5, momentum=0.9)
    batches = [(data(4, 3, seed=i), 3 * data(4, 2, seed=i + 5)) for i in range(2)]
    log = []
    for epoch in range(3):
        for p in m.body.parameters():
            p.requires_grad = epoch == 1
        for x, y in batches:
            loss = F.mse_loss(m(x), y)
            opt.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(m.parameters(), 0.1)
            opt.step()
            log.append((loss.item(), norm.item()))
    return log, m

# %% [3, 4] clipped and counted at the parameters, some of them frozen for a while
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))

def grad_norm(m):
    found = [p.grad.norm() ** 2 for p in m.parameters() if p.grad is not None]
    return len(found), sum(found).item() ** 0.5

def run():
    m = fill(Net())
    opt = torch.optim.Adam(m.parameters(), lr=0.05)
    batches = [(data(4, 3, seed=i), 3 * data(4, 2, seed=i + 5)) for i in range(2)]
    log = []
    for epoch in range(3):
        m.body.requires_grad_(epoch == 1)
        for x, y in batches:
            opt.zero_grad()
            loss = F.mse_loss(m(x), y)
            loss.backward()
            before = grad_norm(m)
            nn.utils.clip_grad_norm_(m.parameters(), 0.1)
            log.append((loss.item(), before, grad_norm(m)))
            opt.step()
    return log, m

# %% [3, 4] frozen in the first rounds of accumulated gradients
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    log = []
    for i in range(6):
        m[0].weight.requires_grad_(i not in (0, 1, 3))
        x, y = data(4, 3, seed=i), data(4, 2, seed=i + 5)
        loss = F.mse_loss(m(x), y) / 2
        loss.backward()
        if i % 2:
            norm = nn.utils.clip_grad_norm_(m.parameters(), 0.1)
            opt.step()
            opt.zero_grad()
            log.append((loss.item(), norm.item()))
    return log, m

# %% [3, 4] a frozen body under a head of zeros, thawed later
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))

def run():
    m = fill(Net())
    nn.init.zeros_(m.head.weight)
    opt = torch.optim.AdamW(m.parameters(), lr=0.05, weight_decay=0.1)
    log = []
    for epoch in range(3):
        for p in m.body.parameters():
            p.requires_grad = epoch > 0
        for x, y in [(data(4, 3, seed=i), 3 * data(4, 2, seed=i + 5)) for i in range(2)]:
            loss = F.mse_loss(m(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            log.append(loss.item())
    return log, m
