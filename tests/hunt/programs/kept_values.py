# %% [21] attention weights kept and read after each call
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 3)
        self.weights = None

    def forward(self, x):
        w = F.softmax(self.q(x) @ x.t(), -1)
        self.weights = w.detach()
        return w @ x

def run():
    m = fill(Attn())
    seen = []
    for i in range(3):
        m(data(2, 3, seed=i))
        seen.append(m.weights)
    return seen

# %% [21] a KL term kept on the module, added to the loss
class VI(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Parameter(torch.zeros(3, 2))
        self.rho = nn.Parameter(torch.full((3, 2), -1.0))
        self.kl = 0

    def forward(self, x):
        sigma = F.softplus(self.rho)
        self.kl = (self.mu.pow(2) + sigma.pow(2) - sigma.log()).sum()
        return x @ self.mu

def run():
    m = fill(VI())
    opt = torch.optim.SGD(m.parameters(), lr=0.05)
    log = []
    for i in range(3):
        out = m(data(4, 3, seed=i))
        loss = F.mse_loss(out, data(4, 2, seed=i + 9)) + 0.1 * m.kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append((loss.item(), float(m.kl)))
    return log, m

# %% [21] activations kept in submodules and read by the loop
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        x = torch.relu(self.fc(x))
        self.act = x
        self.ratio = (x > 0).float().mean()
        return x

def run():
    net = fill(nn.Sequential(Block(), Block()))
    out = []
    for i in range(2):
        y = net(data(4, 3, seed=i))
        out.append([(b.act.mean().item(), b.ratio.item()) for b in net])
    return out

# %% [21] an auxiliary loss kept by a layer, collected over modules
class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(3, 2)
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        self.aux_loss = torch.tensor(0.0)

    def forward(self, x):
        g = self.gate(x).softmax(-1)
        self.aux_loss = (g.mean(0) ** 2).sum()
        return sum(g[:, i:i + 1] * e(x) for i, e in enumerate(self.experts))

def run():
    net = fill(nn.Sequential(MoE(), nn.ReLU(), MoE()))
    opt = torch.optim.Adam(net.parameters(), lr=0.05)
    log = []
    for i in range(3):
        y = net(data(4, 3, seed=i))
        aux = sum(m.aux_loss for m in net.modules() if isinstance(m, MoE))
        loss = y.pow(2).mean() + aux
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net

# %% [21] the last hidden state read by a property
class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)
        self._h = None

    def forward(self, x):
        out, self._h = self.rnn(x)
        return out[:, -1]

    @property
    def state(self):
        return self._h.squeeze(0)

def run():
    m = fill(Enc())
    a = [(m(data(2, 3, 3, seed=i)), m.state) for i in range(2)]
    return a

# %% [21] a hidden state carried over calls
class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)
        self.h = None

    def reset(self):
        self.h = None

    def forward(self, x):
        if self.h is None:
            self.h = torch.zeros(x.size(0), 4)
        self.h = self.cell(x, self.h)
        return self.h

def run():
    m = fill(Stateful()).eval()
    outs = []
    with torch.no_grad():
        for i in range(3):
            outs.append(m(data(2, 3, seed=i)))
        m.reset()
        outs.append(m(data(2, 3)))
    return outs

# %% [21] a step counter and a running mean as plain attributes
class Meter(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.n = 0
        self.mean = torch.zeros(2)

    def forward(self, x):
        y = self.fc(x)
        self.n += 1
        self.mean = self.mean + (y.detach().mean(0) - self.mean) / self.n
        return y - self.mean

def run():
    m = fill(Meter())
    return [m(data(2, 3, seed=i)) for i in range(3)], m.n, m.mean

# %% [21] previous output as an input
class Delta(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.prev = torch.zeros(2, 3)

    def forward(self, x):
        y = torch.tanh(self.fc(x))
        d = y - self.prev
        self.prev = y.detach()
        return d

def run():
    m = fill(Delta())
    return [m(data(2, 3, seed=i)) for i in range(3)]

# %% [21] a cache of keys in a dict
class KV(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = nn.Linear(3, 3)
        self.cache = {}

    def forward(self, x, use_cache=True):
        k = self.k(x)
        if use_cache and "k" in self.cache:
            k = torch.cat([self.cache["k"], k], dim=1)
        if use_cache:
            self.cache["k"] = k
        return (x @ k.transpose(1, 2)).softmax(-1)

def run():
    m = fill(KV()).eval()
    with torch.no_grad():
        a = [m(data(1, 1, 3, seed=i)) for i in range(3)]
        m.cache.clear()
        b = m(data(1, 1, 3))
    return a, b
