# %% [14] the generator's gradients reach the discriminator
def run():
    g, d = fill(nn.Linear(2, 3)), fill(nn.Linear(3, 1), 1)
    og, od = torch.optim.SGD(g.parameters(), lr=0.1), torch.optim.SGD(d.parameters(), lr=0.1)
    x, z = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        og.zero_grad()
        od.zero_grad()
        fake = g(z)
        lg = F.softplus(-d(fake)).mean()
        lg.backward()
        og.step()
        ld = F.softplus(-d(x)).mean() + F.softplus(d(fake.detach())).mean()
        ld.backward()
        od.step()
    return g, d

# %% [14] zeroed in between
def run():
    g, d = fill(nn.Linear(2, 3)), fill(nn.Linear(3, 1), 1)
    og, od = torch.optim.Adam(g.parameters(), lr=0.1), torch.optim.Adam(d.parameters(), lr=0.1)
    x, z = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        og.zero_grad()
        fake = g(z)
        lg = F.softplus(-d(fake)).mean()
        lg.backward()
        og.step()
        od.zero_grad()
        ld = F.softplus(-d(x)).mean() + F.softplus(d(fake.detach())).mean()
        ld.backward()
        od.step()
    return g, d

# %% [14] two losses, two backward passes, one step
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss1 = F.mse_loss(m(x), y)
        loss2 = F.l1_loss(m(x * 2), y)
        loss1.backward()
        loss2.backward()
        opt.step()
    return m

# %% [14] the graph is retained for a second loss
def run():
    enc, a, b = fill(nn.Linear(3, 3)), fill(nn.Linear(3, 1), 1), fill(nn.Linear(3, 1), 2)
    opt = torch.optim.SGD([*enc.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(3):
        opt.zero_grad()
        h = torch.tanh(enc(x))
        la = F.mse_loss(a(h), y)
        lb = F.l1_loss(b(h), y)
        la.backward(retain_graph=True)
        lb.backward()
        opt.step()
    return enc, a, b

# %% [14] both backward passes, then both steps
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(2, 1), 1)
    oa, ob = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.Adam(b.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(3):
        oa.zero_grad()
        ob.zero_grad()
        h = a(x)
        l1 = (h ** 2).mean()
        l2 = F.mse_loss(b(torch.tanh(h)), y)
        l1.backward(retain_graph=True)
        l2.backward()
        oa.step()
        ob.step()
    return a, b

# %% [14] backward passes in a loop, one step
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(3):
        opt.zero_grad()
        for k in range(2):
            loss = F.mse_loss(m(data(4, 3, seed=k)), data(4, 2, seed=k + 5)) / 2
            loss.backward()
        opt.step()
    return m

# %% [14] a backward pass in a helper function
def go_back(loss, scale=1.0):
    (loss * scale).backward()

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        go_back(F.mse_loss(m(x), y), 0.5)
        go_back(F.l1_loss(m(x), y))
        opt.step()
    return m

# %% [14] D real and D fake by themselves, then G
def run():
    g, d = fill(nn.Linear(2, 3)), fill(nn.Linear(3, 1), 1)
    og, od = torch.optim.Adam(g.parameters(), lr=0.1), torch.optim.Adam(d.parameters(), lr=0.1)
    x, z = data(4, 3), data(4, 2, seed=3)
    log = []
    for i in range(3):
        d.zero_grad()
        real = F.softplus(-d(x)).mean()
        real.backward()
        fake = g(z)
        lf = F.softplus(d(fake.detach())).mean()
        lf.backward()
        od.step()
        g.zero_grad()
        lg = F.softplus(-d(fake)).mean()
        lg.backward()
        og.step()
        log.append((real.item(), lf.item(), lg.item()))
    return log, g, d

# %% [14] the discriminator is not zeroed before its own step
def run():
    g, d = fill(nn.Linear(2, 3)), fill(nn.Linear(3, 1), 1)
    og, od = torch.optim.SGD(g.parameters(), lr=0.1), torch.optim.SGD(d.parameters(), lr=0.1)
    x, z = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        ld = F.softplus(-d(x)).mean() + F.softplus(d(g(z).detach())).mean()
        ld.backward()
        od.step()
        lg = F.softplus(-d(g(z))).mean()
        lg.backward()
        og.step()
        og.zero_grad()
        od.zero_grad()
    return g, d

# %% [14] shared encoder, two optimizers that both hold it
def run():
    enc, a, b = fill(nn.Linear(3, 3)), fill(nn.Linear(3, 1), 1), fill(nn.Linear(3, 1), 2)
    oa = torch.optim.SGD([*enc.parameters(), *a.parameters()], lr=0.1)
    ob = torch.optim.SGD([*enc.parameters(), *b.parameters()], lr=0.05)
    x, y = data(4, 3), data(4, 1, seed=3)
    for i in range(3):
        oa.zero_grad()
        la = F.mse_loss(a(enc(x)), y)
        la.backward()
        oa.step()
        ob.zero_grad()
        lb = F.l1_loss(b(enc(x)), y)
        lb.backward()
        ob.step()
    return enc, a, b

# %% [14] accumulation over batches with a rest
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    opt.zero_grad()
    for i in range(5):
        loss = F.mse_loss(m(data(4, 3, seed=i)), data(4, 2, seed=i + 9)) / 2
        loss.backward()
        if (i + 1) % 2 == 0 or i == 4:
            opt.step()
            opt.zero_grad()
    return m

# %% [14] steps in an optimizer dict
def run():
    nets = {"g": fill(nn.Linear(2, 3)), "d": fill(nn.Linear(3, 1), 1)}
    opts = {k: torch.optim.SGD(v.parameters(), lr=0.1) for k, v in nets.items()}
    x, z = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opts["d"].zero_grad()
        ld = F.softplus(-nets["d"](x)).mean() + F.softplus(nets["d"](nets["g"](z).detach())).mean()
        ld.backward()
        opts["d"].step()
        opts["g"].zero_grad()
        lg = F.softplus(-nets["d"](nets["g"](z))).mean()
        lg.backward()
        opts["g"].step()
    return nets["g"], nets["d"]

# %% [14] a loss summed over tasks by hand
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        out = m(x)
        losses = [F.mse_loss(out, y), F.l1_loss(out, y)]
        opt.zero_grad()
        for loss in losses:
            loss.backward(retain_graph=True)
        opt.step()
    return m

# %% [14] both networks are cleared before the first backward pass
def run():
    G, D = fill(nn.Linear(2, 3), 1), fill(nn.Linear(3, 1), 2)
    og, od = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
    for i in range(3):
        G.zero_grad()
        D.zero_grad()
        fake = G(data(4, 2, seed=i))
        d_loss = D(fake.detach()).mean() - D(data(4, 3, seed=i + 9)).mean()
        d_loss.backward()
        od.step()
        g_loss = -D(fake).pow(2).mean()
        g_loss.backward()
        og.step()
    return G, D

# %% [14] networks of optimizers that are not in view, cleared in the other order
def update(G, D, og, od, z, real):
    G.zero_grad()
    D.zero_grad()
    d_loss = D(G(z).detach()).mean() - D(real).mean()
    d_loss.backward()
    od.step()
    g_loss = -D(G(z)).pow(2).mean()
    g_loss.backward()
    og.step()

def run():
    G, D = fill(nn.Linear(2, 3), 1), fill(nn.Linear(3, 1), 2)
    og, od = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
    for i in range(3):
        update(G, D, og, od, data(4, 2, seed=i), data(4, 3, seed=i + 9))
    return G, D

# %% [14] all optimizers cleared in a comprehension
def run():
    a, b = fill(nn.Linear(3, 4), 1), fill(nn.Linear(4, 2), 2)
    optimizers = {"a": torch.optim.SGD(a.parameters(), lr=0.1), "b": torch.optim.Adam(b.parameters(), lr=0.1)}
    losses = []
    for i in range(3):
        [o.zero_grad() for o in optimizers.values()]
        loss = F.cross_entropy(b(torch.tanh(a(data(5, 3, seed=i)))), labels(5, 2, seed=i))
        loss.backward()
        optimizers["a"].step()
        optimizers["b"].step()
        losses.append(loss.item())
    return losses, a, b

# %% [14] nothing clears what one function adds up, another function clears its own
def saliency(net, x, opt):
    opt.zero_grad()
    loss = net(x).sum()
    loss.backward()
    opt.step()

def run():
    net, other = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), 5)
    opt, apart = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD(other.parameters(), lr=0.1)
    for i in range(3):
        F.mse_loss(net(data(4, 3, seed=i)), data(4, 2, seed=i)).backward()
        opt.step()  # and no zero_grad()
        saliency(other, data(2, 3, seed=i), apart)
    return net, other

# %% [2, 14] outputs of several networks, detached one by one for the first loss
def run():
    g = nn.ModuleList([fill(nn.Linear(2, 2), s) for s in range(2)])
    d = fill(nn.Linear(4, 1), 9)
    og, od = torch.optim.SGD(g.parameters(), lr=0.1), torch.optim.SGD(d.parameters(), lr=0.1)
    log = []
    for i in range(3):
        z = data(3, 2, seed=i)
        outs = [n(z) for n in g]
        od.zero_grad()
        dl = d(torch.cat([o.detach() for o in outs], 1)).mean()
        dl.backward()
        od.step()
        og.zero_grad()
        gl = -d(torch.cat(outs, 1)).mean()
        gl.backward()
        og.step()
        log.append((dl.item(), gl.item()))
    return log, g, d

# %% [2, 14] a loop detaches what the second loss trains
def run():
    a, b = fill(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))), fill(nn.Linear(2, 3), 4)
    nets = [a, b]
    critic = fill(nn.Linear(3, 1), 9)
    params = [p for n in nets for p in n.parameters()]
    o1, o2 = torch.optim.SGD(critic.parameters(), lr=0.1), torch.optim.Adam(params, lr=0.05)
    log = []
    for i in range(3):
        z = data(4, 2, seed=i)
        outs = []
        for net in nets:
            outs.append(net(z))
        score = 0
        for o in outs:
            score = score + critic(o.detach()).mean()
        o1.zero_grad()
        score.backward()
        o1.step()
        o2.zero_grad()
        fool = -sum(critic(o).mean() for o in outs)
        fool.backward()
        o2.step()
        log.append((score.item(), fool.item()))
    return log, a, b, critic

# %% [2, 14] detached through map
def run():
    enc, probe, head = fill(nn.Linear(3, 4)), fill(nn.Linear(8, 2), 5), fill(nn.Linear(8, 2), 6)
    op = torch.optim.SGD(probe.parameters(), lr=0.2)
    oe = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.2)
    log = []
    for i in range(3):
        feats = (enc(data(4, 3, seed=i)), enc(data(4, 3, seed=i + 7)))
        y = labels(4, 2, seed=i)
        pl = F.cross_entropy(probe(torch.cat(tuple(map(lambda f: f.detach(), feats)), dim=1)), y)
        op.zero_grad()
        pl.backward()
        op.step()
        el = F.cross_entropy(head(torch.cat(feats, dim=1)), y)
        oe.zero_grad()
        el.backward()
        oe.step()
        log.append((pl.item(), el.item()))
    return log, enc, probe, head

# %% [14] networks in turn add up what one optimizer steps with behind the loop
def run():
    a, b = fill(nn.Linear(3, 1), 1), fill(nn.Linear(3, 1), 2)
    opt = torch.optim.Adam([*a.parameters(), *b.parameters()], lr=0.05)
    log = []
    for i in range(3):
        opt.zero_grad()
        total = 0
        for net, x in ((a, data(4, 3, seed=i)), (b, data(4, 3, seed=i + 5))):
            loss = F.mse_loss(net(x), torch.ones(4, 1))
            loss.backward()
            total += loss.item()
        opt.step()
        log.append(total)
    return log, a, b
