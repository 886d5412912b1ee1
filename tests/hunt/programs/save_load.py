# %% [0] save and load a state dict
def run():
    m, n = fill(nn.Linear(3, 2)), nn.Linear(3, 2)
    torch.save(m.state_dict(), "m.pth")
    n.load_state_dict(torch.load("m.pth"))
    return n

# %% [0] a checkpoint with optimizer and epoch
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    opt.zero_grad()
    m(data(4, 3)).pow(2).mean().backward()
    opt.step()
    torch.save({"epoch": 3, "model": m.state_dict(), "opt": opt.state_dict(), "best": 0.5}, "c.pt")
    c = torch.load("c.pt", map_location="cpu", weights_only=False)
    n = nn.Linear(3, 2)
    n.load_state_dict(c["model"])
    o = torch.optim.Adam(n.parameters(), lr=0.2)
    o.load_state_dict(c["opt"])
    o.zero_grad()
    n(data(4, 3, seed=4)).pow(2).mean().backward()
    o.step()
    return n, c["epoch"], c["best"], o.param_groups[0]["lr"]

# %% [0] tensors and lists saved
def run():
    torch.save([data(2), {"a": torch.arange(3)}], "t.pt")
    a, b = torch.load("t.pt")
    return a, b["a"]

# %% [0] numpy saved and loaded
def run():
    np.save("a.npy", data(2, 3).numpy())
    return torch.from_numpy(np.load("a.npy"))

# %% [0] a buffer in memory
import io

def run():
    b = io.BytesIO()
    torch.save(data(3), b)
    b.seek(0)
    return torch.load(b)

# %% [0] a path from pathlib
from pathlib import Path

def run():
    p = Path("ckpt")
    p.mkdir(exist_ok=True)
    torch.save({"w": data(2)}, p / "x.pt")
    return torch.load(p / "x.pt")["w"], (p / "x.pt").exists()

# %% [0] a partial load by matching shapes
def run():
    m, n = fill(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 4))), nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 5))
    fill(n, seed=3)
    own = n.state_dict()
    pre = {k: v for k, v in m.state_dict().items() if k in own and v.size() == own[k].size()}
    own.update(pre)
    n.load_state_dict(own)
    return n, sorted(pre)

# %% [0] early stopping saves the best
class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.n = patience, None, 0

    def __call__(self, loss, model):
        if self.best is None or loss < self.best:
            self.best = loss
            self.n = 0
            torch.save(model.state_dict(), "best.pt")
        else:
            self.n += 1
        return self.n >= self.patience

def run():
    m = fill(nn.Linear(2, 1))
    es = EarlyStopping(2)
    stops = [es(v, m) for v in [1.0, 0.5, 0.7, 0.8]]
    m.load_state_dict(torch.load("best.pt"))
    return stops, m

# %% [0] a scheduler saved and restored
def run():
    m = fill(nn.Linear(2, 1))
    opt = torch.optim.SGD(m.parameters(), lr=1.0)
    s = torch.optim.lr_scheduler.StepLR(opt, 2, 0.1)
    for _ in range(3):
        opt.step()
        s.step()
    state = s.state_dict()
    opt2 = torch.optim.SGD(m.parameters(), lr=1.0)
    s2 = torch.optim.lr_scheduler.StepLR(opt2, 2, 0.1)
    s2.load_state_dict(state)
    return s2.last_epoch, s.get_last_lr()

# %% [0] the whole model saved
def run():
    m = fill(nn.Linear(2, 1))
    torch.save(m, "whole.pt")
    return torch.load("whole.pt", weights_only=False)(data(1, 2))


# %% [0] the epoch in a schedule's state
def run():
    m = fill(nn.Linear(2, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    sch = torch.optim.lr_scheduler.StepLR(opt, 2, 0.5)
    for _ in range(3):
        opt.zero_grad()
        m(data(2, 2)).sum().backward()
        opt.step()
        sch.step()
    torch.save({"s": sch.state_dict()}, "s.pt")
    return sch.state_dict()["last_epoch"], torch.load("s.pt")["s"]["last_epoch"], f"epoch {sch.last_epoch}"
