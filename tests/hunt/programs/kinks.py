# %% [0] a discriminator whose zero biases meet blank inputs
class Disc(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 3, 3, padding=1)
        self.c2 = nn.Conv2d(3, 2, 3, padding=1)
        self.act = nn.LeakyReLU(0.2, inplace=True)
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        x = self.act(self.c1(x))
        x = F.leaky_relu(self.c2(x), 0.1)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def run():
    net = fill(Disc())
    for m in net.modules():
        if isinstance(m, (nn.Conv2d, nn.Linear)):
            nn.init.zeros_(m.bias)
    opt = torch.optim.SGD(net.parameters(), lr=0.5)
    x = torch.zeros(2, 1, 6, 6)
    x[:, :, 2:4, 2:4] = data(2, 1, 2, 2)
    log = []
    for _ in range(3):
        opt.zero_grad()
        loss = F.binary_cross_entropy_with_logits(net(x), torch.ones(2, 1))
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net


# %% [0] a head of zeros learns from logits of zero
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)
        nn.init.zeros_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, x):
        return self.fc(x).squeeze(1)


def run():
    net = Head()
    opt = torch.optim.SGD(net.parameters(), lr=0.5)
    crit = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))
    x, y = data(6, 3), labels(6, 2).float()
    log = []
    for _ in range(3):
        opt.zero_grad()
        loss = crit(net(x), y)
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net


# %% [15] probabilities of exactly 0 and 1 in a binary cross entropy
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return torch.sigmoid(self.fc(x) * 60).squeeze(1)


def run():
    net = fill(Net())
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    crit = nn.BCELoss()
    x, y = data(8, 3), labels(8, 2).float()
    log = []
    for i in range(3):
        opt.zero_grad()
        loss = crit(net(x), y) + F.binary_cross_entropy(net(x[:2]).clamp(0, 1), y[:2])
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, net, crit(torch.tensor([0.0, 1.0, 1.0]), torch.tensor([0.0, 1.0, 0.0]))


# %% [0] activations where their slope jumps, and far from zero
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.tensor([-40.0, -1.0, 0.0, 0.0, 5.0, 60.0]))
        self.mish, self.elu = nn.Mish(), nn.ELU(0.5)

    def forward(self, k):
        x = self.p
        if k == 0:
            return F.mish(x) + self.mish(x)
        if k == 1:
            return self.elu(x) + F.elu(x, 0.7) + F.celu(x)
        if k == 2:
            return F.rrelu(x, 0.1, 0.3) if not self.training else F.rrelu(x, 0.2, 0.2, True)
        if k == 3:
            return F.prelu(x, torch.tensor([0.3])) + F.leaky_relu(x, 0.3)
        return F.selu(x) + F.softplus(x) + F.logsigmoid(x)


def run():
    out = []
    for k in range(5):
        for train in (True, False):
            net = Net().train(train)
            y = net(k)
            (y * torch.arange(1.0, 7.0)).sum().backward()
            out.append((y.detach(), net.p.grad))
    return out


# %% [0] margin losses where scores are tied
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.tensor([[0.0, 1.0, 1.0], [2.0, 1.0, 0.0]]))

    def forward(self, k):
        y = torch.tensor([1, 0])
        if k == 0:
            return F.multi_margin_loss(self.p, y)
        if k == 1:
            return F.multilabel_margin_loss(self.p, torch.tensor([[1, -1, 0], [0, 2, -1]]))
        if k == 2:
            return F.margin_ranking_loss(self.p[0], self.p[1], torch.tensor([1.0, 1.0, -1.0]), margin=0.0)
        return F.soft_margin_loss(self.p * 0, torch.ones(2, 3)) + F.relu(1 - self.p).sum()


def run():
    out = []
    for k in range(4):
        net = Net()
        loss = net(k)
        loss.backward()
        out.append((loss.item(), net.p.grad))
    return out


# %% [16] a Parameter stacked with tensors
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(3))
        self.b = nn.Parameter(torch.ones(3))

    def forward(self, x):
        y = torch.stack([self.a, self.b * x]).sum(0)
        z = torch.stack((self.a, self.b), dim=1)
        p = self.a
        w = torch.stack([p, -p, x])
        return y + z.sum(1) + w.mean(0)


def run():
    net = fill(Net())
    y = net(data(3))
    (y * y).sum().backward()
    return y.detach(), net.a.grad, net.b.grad
