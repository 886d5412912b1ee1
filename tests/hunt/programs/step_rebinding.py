# %% [6] a detached state between two values of one name
def run():
    cell, head = fill(nn.Linear(3, 3)), fill(nn.Linear(3, 1), 1)
    opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 1, seed=3)
    state = torch.zeros(4, 3)
    losses = []
    for i in range(4):
        out = torch.tanh(cell(x + state))
        state = out.detach()
        out = head(out)
        loss = F.mse_loss(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, state

# %% [6] a count of an earlier value
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    counts = []
    for i in range(3):
        opt.zero_grad()
        out = m(x)
        n_pos = (out > 0).sum()
        out = out * -1
        loss = F.mse_loss(out, y)
        loss.backward()
        opt.step()
        counts.append(n_pos.item())
    return counts, m

# %% [6] the loss's name is used again for its mean
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    x, y = data(6, 3), data(6, 2, seed=3)
    hard = []
    for i in range(3):
        opt.zero_grad()
        loss = ((m(x) - y) ** 2).sum(1)
        hard.append(loss.max().item())
        loss = loss.mean()
        loss.backward()
        opt.step()
    return hard, m

# %% [6] a metric of the first of three values, and of the second
def run():
    m, head = fill(nn.Linear(3, 3)), fill(nn.Linear(3, 3), 2)
    opt = torch.optim.SGD([*m.parameters(), *head.parameters()], lr=0.2, momentum=0.9)
    x, y = data(4, 3), labels(4, 3)
    found = []
    for i in range(3):
        h = m(x)
        norm = h.norm().item()
        h = torch.relu(h)
        alive = (h > 0).float().mean().item()
        h = head(h)
        acc = (h.argmax(1) == y).float().mean().item()
        loss = F.cross_entropy(h, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        found.append((norm, alive, acc, loss.item()))
    return found

# %% [6] the input's name is used for the output
def run():
    m = fill(nn.Linear(3, 3))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    total = 0.0
    for i in range(3):
        x = data(4, 3, seed=i)
        mean_in = x.mean()
        x = m(x)
        mean_out = x.mean()
        x = (x ** 2).sum()
        opt.zero_grad()
        x.backward()
        opt.step()
        total += mean_in.item() + 2 * mean_out.item() + 3 * x.item()
    return total, m

# %% [6] rebinding in a function without a loop
def step(m, opt, x, y):
    out = m(x)
    first = out.detach().clone()
    out = out - out.mean()
    loss = (out * y).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return first, out.detach(), loss.item()

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    return [step(m, opt, data(4, 3, seed=i), data(4, 2, seed=i + 9)) for i in range(3)]

# %% [6] an augmented assignment after a reading
def run():
    m, n = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), 4)
    opt = torch.optim.SGD([*m.parameters(), *n.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    log = []
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        first = loss.item()
        loss += F.l1_loss(n(x), y)
        log.append((first, loss.item()))
        loss.backward()
        opt.step()
    return log, m, n

# %% [6] rebinding under an if
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    log = []
    for i in range(4):
        opt.zero_grad()
        out = m(x)
        raw = out.sum().item()
        if i % 2:
            out = torch.tanh(out)
        loss = F.mse_loss(out, y)
        loss.backward()
        opt.step()
        log.append((raw, out.sum().item()))
    return log, m

# %% [6] rebinding of unpacked names
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), 1)
    opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
    x = data(4, 3)
    log = []
    for i in range(3):
        mu, logvar = a(x), b(x)
        spread = logvar.exp().mean().item()
        mu, logvar = mu * 2, logvar.clamp(-1, 1)
        opt.zero_grad()
        loss = (mu ** 2 + logvar.exp() - logvar).mean()
        loss.backward()
        opt.step()
        log.append((spread, mu.mean().item(), loss.item()))
    return log

# %% [6] a hidden state carried over, read before its name goes on
def run():
    rnn, head = fill(nn.GRUCell(2, 3)), fill(nn.Linear(3, 1), 5)
    opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=0.05)
    h = torch.zeros(4, 3)
    log = []
    for i in range(4):
        x, y = data(4, 2, seed=i), data(4, 1, seed=i + 7)
        h = rnn(x, h)
        saved = h.detach()
        h = head(h)
        loss = F.mse_loss(h, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        h = saved
        log.append(loss.item())
    return log, h

# %% [6] the earlier value goes into a list
def run():
    m = fill(nn.Linear(3, 3))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x = data(4, 3)
    stages = []
    for i in range(3):
        opt.zero_grad()
        out = m(x)
        stages.append(out.detach().numpy().copy())
        out = out.relu()
        stages.append(out.detach().numpy().copy())
        out = out.sum()
        out.backward()
        opt.step()
    return stages

# %% [6] a print between
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        out = m(x)
        print(f"raw {out.mean().item():.4f}")
        out = out.sigmoid()
        print(f"prob {out.mean().item():.4f}")
        loss = F.mse_loss(out, y)
        loss.backward()
        opt.step()
        print(f"loss {loss.item():.4f}")
    return m

# %% [6] the old value is an input of the region again
def run():
    m, n = fill(nn.Linear(3, 3)), fill(nn.Linear(3, 3), 1)
    opt = torch.optim.SGD([*m.parameters(), *n.parameters()], lr=0.1)
    x = data(4, 3)
    sums = []
    for i in range(3):
        h = m(x)
        keep = h
        scale = h.abs().max().item()
        h = n(h) + keep
        sums.append((scale, keep.sum().item(), h.sum().item()))
        loss = h.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return sums

# %% [6] scores are kept before a batch is skipped
def run():
    model = fill(nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    seen, steps = [], 0
    for i in range(5):
        out = model(data(6, 4, seed=i))
        seen.append(out.mean().item())
        if i % 3 == 1:
            print("skip", i)
            continue
        loss = out.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        steps += 1
    return seen, steps, model.weight.detach()

# %% [6] a batch that is skipped by its loss adds no gradients
def run():
    model = fill(nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.5)
    losses = []
    for i in range(6):
        loss = (model(data(6, 4, seed=i)) - 1).pow(2).mean()
        losses.append(loss.item())
        if loss.item() > 1.9:
            continue
        sched.step()
        loss.backward()
        if i % 2:
            opt.step()
            opt.zero_grad()
    return losses, model.weight.detach(), opt.param_groups[0]["lr"]

# %% [6] a count that a skipped batch does not change
def run():
    model = fill(nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    count = 1
    losses = []
    for i in range(5):
        out = model(data(6, 4, seed=i))
        if out.mean().item() > 0:
            continue
        count += 1
        loss = out.pow(2).mean() / count
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, count

# %% [6] text between the statements of a step
def run():
    model = fill(nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for i in range(2):
        out = model(data(6, 4, seed=i))
        print("mean", out.mean().item())
        print("round", i)
        loss = out.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return model.weight.detach()
