# %% [7] a generator around the step is drawn from inside of it
def run():
    rng = np.random.default_rng(0)
    def noise(*shape):
        return torch.tensor(rng.standard_normal(shape).astype("float32"))
    net = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(4):
        loss = (net(noise(4, 3)) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, net

# %% [7] a network draws from a generator that it keeps
def run():
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.rng = np.random.RandomState(3)
            self.fc = nn.Linear(3, 1)
        def drawn(self, x):
            return torch.from_numpy(self.rng.standard_normal(tuple(x.shape)).astype("float32"))
        def forward(self, x):
            return self.fc(x + 0.5 * self.drawn(x))
    net = fill(Noisy())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for i in range(4):
        opt.zero_grad()
        loss = net(data(4, 3)).pow(2).mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, net

# %% [6] inputs and targets are drawn from one stream, in this order
def run():
    rng = np.random.default_rng(0)
    net = fill(nn.Linear(3, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        opt.zero_grad()
        out = net(torch.from_numpy(rng.standard_normal((4, 3)).astype("float32")))
        target = torch.from_numpy(rng.standard_normal((4, 3)).astype("float32"))
        loss = F.mse_loss(out, target)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, net

# %% [6] one iterator gives images and then labels
def run():
    stream = iter([data(4, 3, seed=i) for i in range(8)])
    net = fill(nn.Linear(3, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        out = net(next(stream))
        target = next(stream)
        loss = (out - target).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, next(stream), net

# %% [6] a number drawn behind the forward pass and used behind the step
def run():
    rng = np.random.default_rng(5)
    net = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    drawn = []
    for i in range(3):
        out = net(torch.tensor(rng.standard_normal((4, 3)).astype("float32")))
        chance = rng.random()
        loss = out.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        drawn.append((loss.item(), chance))
    return drawn, net

# %% [6] helpers of another file draw for inputs and targets
from toy import Toy

def run():
    toy = Toy(7)
    net = fill(nn.Linear(3, 1))
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        out = net(toy.inputs(4))
        loss = F.mse_loss(out, toy.targets(4))
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, net
# --- toy.py
class Toy:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
    def inputs(self, n):
        return torch.tensor(self.rng.standard_normal((n, 3)).astype("float32"))
    def targets(self, n):
        return torch.tensor(self.rng.standard_normal((n, 1)).astype("float32"))

# %% [13] numpy's numbers do not depend on the layers that were built
def run():
    np.random.seed(4)
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Conv1d(2, 3, 1), nn.Embedding(5, 2))
    first = np.random.permutation(6)
    cell, lstm = nn.LSTMCell(3, 4), nn.LSTM(3, 4)
    second = np.random.rand(3)
    nn.init.orthogonal_(net[0].weight)
    nn.init.kaiming_normal_(net[0].weight)
    return first, second, np.random.randint(0, 100, 4)

# %% [13] a split by numpy's seed alone
def run():
    np.random.seed(11)
    net = nn.TransformerEncoderLayer(8, 2, 16)
    order = np.random.permutation(10)
    return order[:7], order[7:]

# %% [12] Adam goes on from its state dict after steps were taken
def run():
    net = fill(nn.Linear(3, 1))
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
    losses = []
    for i in range(6):
        opt.zero_grad()
        loss = net(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        if i == 2:
            opt.load_state_dict(opt.state_dict())
    return losses, net

# %% [12] AdamW is made again and resumes
def run():
    def make():
        net = fill(nn.Linear(3, 1))
        return net, torch.optim.AdamW(net.parameters(), lr=0.1)
    net, opt = make()
    losses = []
    for i in range(6):
        if i == 3:
            torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, "last.pt")
            net, opt = make()
            state = torch.load("last.pt")
            net.load_state_dict(state["net"])
            opt.load_state_dict(state["opt"])
        loss = net(data(4, 3, seed=i)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, net, opt.state_dict()["state"][0]["exp_avg_sq"]
