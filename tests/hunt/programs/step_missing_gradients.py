# %% [4] an unused layer with weight decay
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(3, 2)
        self.unused = nn.Linear(3, 2)

    def forward(self, x):
        return self.used(x)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        F.mse_loss(m(x), y).backward()
        opt.step()
    return m

# %% [4] alternating heads, momentum
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.a = nn.Linear(4, 2)
        self.b = nn.Linear(4, 2)

    def forward(self, x, task):
        h = torch.tanh(self.body(x))
        return self.a(h) if task == 0 else self.b(h)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(5):
        opt.zero_grad()
        loss = F.mse_loss(m(x, i % 2), y)
        loss.backward()
        opt.step()
    return m

# %% [4] alternating heads in a ModuleList, Adam
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([nn.Linear(3, 2) for _ in range(3)])

    def forward(self, x, k):
        return self.heads[k](x)

def run():
    m = fill(Net())
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(6):
        opt.zero_grad()
        loss = F.mse_loss(m(x, i % 3), y)
        loss.backward()
        opt.step()
    return m

# %% [4] a block that is skipped by a flag
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)

    def forward(self, x, skip=False):
        x = self.first(x)
        if not skip:
            x = x + self.second(x)
        return x

def run():
    m = fill(Net())
    opt = torch.optim.AdamW(m.parameters(), lr=0.05, weight_decay=0.1)
    x, y = data(4, 3), data(4, 3, seed=3)
    for i in range(4):
        opt.zero_grad()
        loss = F.mse_loss(m(x, skip=i > 1), y)
        loss.backward()
        opt.step()
    return m

# %% [4] a detached encoder
def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1, weight_decay=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(head(enc(x).detach()), y)
        loss.backward()
        opt.step()
    return enc, head

# %% [4] an encoder under no_grad
def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.Adam([*enc.parameters(), *head.parameters()], lr=0.1, weight_decay=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        with torch.no_grad():
            h = enc(x)
        loss = F.mse_loss(head(h), y)
        loss.backward()
        opt.step()
    return enc, head

# %% [4] frozen later by requires_grad
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, weight_decay=0.05)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        if i == 2:
            for p in m[0].parameters():
                p.requires_grad = False
        opt.zero_grad()
        F.mse_loss(m(x), y).backward()
        opt.step()
    return list(m[0].parameters()), list(m[2].parameters())

# %% [4] the gradient of an unused layer is None
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(3, 2)
        self.unused = nn.Linear(3, 2)

    def forward(self, x):
        return self.used(x)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    opt.zero_grad()
    F.mse_loss(m(x), y).backward()
    names = [n for n, p in m.named_parameters() if p.grad is None]
    opt.step()
    return names, m

# %% [4] two models, one step each, one optimizer
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), 1)
    opt = torch.optim.Adam([*a.parameters(), *b.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        opt.zero_grad()
        if i % 2 == 0:
            loss = F.mse_loss(a(x), y)
        else:
            loss = F.l1_loss(b(x), y)
        loss.backward()
        opt.step()
    return a, b

# %% [4] zeros, not None, after set_to_none=False
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), 1)
    opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1, momentum=0.9, weight_decay=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        opt.zero_grad(set_to_none=False)
        out = a(x) + b(x) if i == 0 else a(x)
        loss = F.mse_loss(out, y)
        loss.backward()
        opt.step()
    return a, b

# %% [4] an auxiliary head that training uses every other epoch, clipped
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)
        self.aux = nn.Linear(4, 2)
        self.use_aux = True

    def forward(self, x):
        h = self.body(x)
        if self.use_aux:
            return self.head(h), self.aux(h)
        return self.head(h), None

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        m.use_aux = i % 2 == 0
        out, aux = m(x)
        loss = F.mse_loss(out, y)
        if aux is not None:
            loss = loss + 0.4 * F.mse_loss(aux, y)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(m.parameters(), 0.5)
        opt.step()
    return m

# %% [4] RMSprop and an embedding row never looked up
def run():
    emb, head = fill(nn.Embedding(5, 3)), fill(nn.Linear(3, 1), 1)
    spare = fill(nn.Linear(2, 2), 2)
    opt = torch.optim.RMSprop([*emb.parameters(), *head.parameters(), *spare.parameters()], lr=0.01, momentum=0.5, weight_decay=0.1)
    ids = torch.tensor([0, 1, 3])
    for i in range(3):
        opt.zero_grad()
        head(emb(ids)).pow(2).mean().backward()
        opt.step()
    return emb, head, spare
