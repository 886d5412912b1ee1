# %% [2] set_grad_enabled as a block
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.head = nn.Linear(4, 1)
        self.tune = False

    def forward(self, x):
        with torch.set_grad_enabled(self.tune):
            h = self.enc(x)
        return self.head(h)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [2] set_grad_enabled as a call
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        torch.set_grad_enabled(False)
        h = m[0](data(4, 3, seed=i))
        torch.set_grad_enabled(True)
        loss = m[1](h).pow(2).mean()
        loss.backward()
        opt.step()
    return m

# %% [2] no_grad on a function that returns a tuple
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.head = nn.Linear(4, 1)

    @torch.no_grad()
    def encode(self, x):
        h = self.enc(x)
        return h, h.mean()

    def forward(self, x):
        h, m = self.encode(x)
        return self.head(h) + m

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [2] no_grad on a function that returns a dict or a list
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.head = nn.Linear(4, 1)

    @torch.no_grad()
    def encode(self, x):
        h = self.enc(x)
        return {"h": h}

    @torch.no_grad()
    def both(self, x):
        return [self.enc(x), self.enc(-x)]

    def forward(self, x):
        a, b = self.both(x)
        return self.head(self.encode(x)["h"] + a - b)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [2] results appended to a list inside the block
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        self.head = nn.Linear(6, 1)

    def forward(self, x):
        feats = []
        with torch.no_grad():
            for l in self.layers:
                x = l(x)
                feats.append(x)
        return self.head(torch.cat(feats, 1))

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [2] results stored in a dict inside the block
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 3)
        self.head = nn.Linear(3, 1)

    def forward(self, x):
        out = {}
        with torch.no_grad():
            out["feat"] = self.enc(x)
        return self.head(out["feat"])

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [2] results stored on self inside the block
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 3)
        self.head = nn.Linear(3, 1)

    def forward(self, x):
        with torch.no_grad():
            self.feat = self.enc(x)
        return self.head(self.feat)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [2] enable_grad inside no_grad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 3)
        self.head = nn.Linear(3, 1)

    def forward(self, x):
        with torch.no_grad():
            h = self.enc(x)
            with torch.enable_grad():
                y = self.head(h)
        return y

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [2] a name bound in one branch inside the block
class Net(nn.Module):
    def __init__(self, flag=False):
        super().__init__()
        self.enc = nn.Linear(3, 3)
        self.flag = flag

    def forward(self, x):
        with torch.no_grad():
            if self.flag:
                extra = self.enc(x)
            h = x * 2
        if self.flag:
            h = h + extra
        return self.enc(h)

def run():
    return fill(Net())(data(2, 3)), fill(Net(True))(data(2, 3))

# %% [2] a teacher in the training loop
def run():
    student, teacher = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=8)
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    out = []
    for i in range(3):
        x = data(4, 3, seed=i)
        with torch.no_grad():
            t = teacher(x)
        loss = F.mse_loss(student(x), t)
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out, student, teacher

# %% [2] inference_mode for the evaluation
def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5)))
    m.eval()
    with torch.inference_mode():
        y = m(data(4, 3))
    return y, y.requires_grad

# %% [2] no_grad with a flag from an argument
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 3)
        self.head = nn.Linear(3, 1)

    def forward(self, x, freeze=True):
        with torch.set_grad_enabled(not freeze):
            h = torch.tanh(self.enc(x))
        return self.head(h)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i), freeze=(i == 0)).pow(2).mean().backward()
        opt.step()
    return m

# %% [2] phases with set_grad_enabled(phase == "train")
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for epoch in range(2):
        for phase in ["train", "val"]:
            m.train() if phase == "train" else m.eval()
            opt.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                out = m(data(4, 3, seed=epoch))
                loss = F.cross_entropy(out, labels(4, 2))
                if phase == "train":
                    loss.backward()
                    opt.step()
            log.append(loss.item())
    return log, m

# %% [2] detach of a part
def run():
    enc, head = fill(nn.Linear(3, 3)), fill(nn.Linear(3, 1), seed=4)
    opt = torch.optim.SGD(list(enc.parameters()) + list(head.parameters()), lr=0.1)
    for i in range(2):
        h = enc(data(4, 3, seed=i))
        loss = head(h.detach()).pow(2).mean() + 0.1 * h.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a generator method under no_grad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)

    @torch.no_grad()
    def generate(self, x, steps):
        outs = []
        for _ in range(steps):
            x = self(x)
            outs.append(x)
        return torch.stack(outs)

def run():
    return fill(Net()).generate(data(1, 2), 3)

# %% [2] requires_grad flags of the results
def run():
    m = fill(nn.Linear(2, 2))
    with torch.no_grad():
        y = m(data(1, 2))
    return y.requires_grad, m.weight.requires_grad
