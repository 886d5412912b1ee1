# %% [2] set_grad_enabled as a block, by a flag
def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        opt.zero_grad()
        with torch.set_grad_enabled(i % 2 == 0):
            h = torch.tanh(enc(x))
        loss = F.mse_loss(head(h), y)
        loss.backward()
        opt.step()
    return enc, head

# %% [2] set_grad_enabled around train and validation phases
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    log = []
    for epoch in range(2):
        for phase in ["train", "val"]:
            if phase == "train":
                m.train()
            else:
                m.eval()
            opt.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                out = m(x)
                loss = F.mse_loss(out, y)
                if phase == "train":
                    loss.backward()
                    opt.step()
            log.append((phase, loss.item()))
    return log, m

# %% [2] set_grad_enabled as a bare call
def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        torch.set_grad_enabled(False)
        h = torch.tanh(enc(x))
        torch.set_grad_enabled(True)
        loss = F.mse_loss(head(h), y)
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a decorated function that gives a tuple
@torch.no_grad()
def features(enc, x):
    h = enc(x)
    return h, h.mean()

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        h, m = features(enc, x)
        loss = F.mse_loss(head(h) + m, y)
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a decorated function that gives a dict
@torch.no_grad()
def features(enc, x):
    h = enc(x)
    return {"h": h, "m": h.mean()}

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        f = features(enc, x)
        loss = F.mse_loss(head(f["h"]) + f["m"], y)
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a decorated method that gives a list
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)

    @torch.no_grad()
    def stages(self, x):
        h = self.enc(x)
        return [h, h * 2]

    def forward(self, x):
        a, b = self.stages(x)
        return self.head(a + b)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1, weight_decay=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        opt.step()
    return m

# %% [2] results appended to a list inside the block
def run():
    encs = [fill(nn.Linear(3, 4), i) for i in range(2)]
    head = fill(nn.Linear(4, 2), 5)
    opt = torch.optim.SGD([*encs[0].parameters(), *encs[1].parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        feats = []
        with torch.no_grad():
            for enc in encs:
                feats.append(enc(x))
        loss = F.mse_loss(head(feats[0] + feats[1]), y)
        loss.backward()
        opt.step()
    return encs[0], encs[1], head

# %% [2] results stored in a dict inside the block of a forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        cache = {}
        with torch.no_grad():
            cache["h"] = torch.tanh(self.enc(x))
        return self.head(cache["h"])

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        opt.step()
    return m

# %% [2] results stored on self inside the block of a forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)
        self.h = None

    def forward(self, x):
        with torch.no_grad():
            self.h = torch.tanh(self.enc(x))
        return self.head(self.h)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        opt.step()
    return m

# %% [2] a list of features in a forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encs = nn.ModuleList([nn.Linear(3, 4), nn.Linear(3, 4)])
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        feats = []
        with torch.no_grad():
            for enc in self.encs:
                feats.append(enc(x))
        return self.head(sum(feats))

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        opt.step()
    return m

# %% [2] enable_grad inside no_grad
def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        with torch.no_grad():
            h = enc(x)
            with torch.enable_grad():
                out = head(h)
        loss = F.mse_loss(out, y)
        loss.backward()
        opt.step()
    return enc, head

# %% [2] enable_grad inside no_grad in a forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        with torch.no_grad():
            h = self.enc(x)
            with torch.enable_grad():
                out = self.head(h)
        return out

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        opt.step()
    return m

# %% [2] a name bound in one branch inside the block
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x, use=True):
        h = x.new_zeros(x.shape[0], 4)
        with torch.no_grad():
            if use:
                h = self.enc(x)
                extra = h * 2
            else:
                other = x.sum()
        out = self.head(h)
        if use:
            out = out + extra.mean()
        else:
            out = out + other
        return out

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        opt.zero_grad()
        loss = F.mse_loss(m(x, i % 2 == 0), y)
        loss.backward()
        opt.step()
    return m

# %% [2] a name bound in one branch, outside of a network
def run():
    teacher, m = fill(nn.Linear(3, 2), 7), fill(nn.Linear(3, 2))
    opt = torch.optim.SGD([*m.parameters(), *teacher.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        opt.zero_grad()
        with torch.no_grad():
            if i > 0:
                target = teacher(x)
        loss = F.mse_loss(m(x), y)
        if i > 0:
            loss = loss + F.mse_loss(m(x), target)
        loss.backward()
        opt.step()
    return m, teacher

# %% [2] inference_mode around a teacher
def run():
    teacher, m = fill(nn.Linear(3, 2), 7), fill(nn.Linear(3, 2))
    opt = torch.optim.SGD([*m.parameters(), *teacher.parameters()], lr=0.1, weight_decay=0.01)
    x = data(4, 3)
    for i in range(3):
        opt.zero_grad()
        with torch.no_grad():
            target = teacher(x)
        student = m(x)
        loss = F.mse_loss(student, target)
        loss.backward()
        opt.step()
    with torch.inference_mode():
        out = m(x)
    return m, teacher, out

# %% [2] the context chosen by a flag, as a decorator called by hand
def evaluate(m, x):
    return m(x)

def run():
    m = fill(nn.Linear(3, 2))
    x = data(4, 3)
    found = []
    for flag in (True, False):
        fn = (torch.inference_mode if flag else torch.no_grad)()(evaluate)
        found.append(fn(m, x))
    return found

# %% [2] no_grad as a wrapper around a function
def target_of(net, x):
    return net(x)

frozen = torch.no_grad()(target_of)

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(head(frozen(enc, x)), y)
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a context in a variable
def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        freeze = i % 2 == 1
        ctx = torch.no_grad() if freeze else torch.enable_grad()
        opt.zero_grad()
        with ctx:
            h = enc(x)
        loss = F.mse_loss(head(h), y)
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a flag on self decides in a forward
class Net(nn.Module):
    def __init__(self, frozen):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)
        self.frozen = frozen

    def forward(self, x):
        with torch.set_grad_enabled(not self.frozen):
            h = torch.tanh(self.enc(x))
        return self.head(h)

def run():
    found = []
    for frozen in (True, False):
        m = fill(Net(frozen))
        opt = torch.optim.SGD(m.parameters(), lr=0.1)
        x, y = data(4, 3), data(4, 2, seed=3)
        for i in range(3):
            opt.zero_grad()
            loss = F.mse_loss(m(x), y)
            loss.backward()
            opt.step()
        found.append(m)
    return found

# %% [2] a part of the loss without gradients, in the middle of the step
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        out = m(x)
        with torch.no_grad():
            w = torch.softmax((out - y).abs().sum(1), 0)
        loss = (w[:, None] * (out - y) ** 2).sum()
        loss.backward()
        opt.step()
    return m

# %% [2] a momentum encoder updated in a decorated method
class MoCo(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 4)
        self.k = nn.Linear(3, 4)

    @torch.no_grad()
    def update(self):
        for a, b in zip(self.q.parameters(), self.k.parameters()):
            b.data = b.data * 0.9 + a.data * 0.1

    def forward(self, x, y):
        q = F.normalize(self.q(x), dim=1)
        with torch.no_grad():
            self.update()
            k = F.normalize(self.k(y), dim=1)
        return (q * k).sum(1).mean()

def run():
    m = fill(MoCo())
    opt = torch.optim.SGD(m.q.parameters(), lr=0.1)
    losses = []
    for i in range(3):
        loss = -m(data(4, 3, seed=i), data(4, 3, seed=i + 5))
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, m

# %% [2] a frozen encoder in functions and objects of another file
from frozen import Extractor, encode, encode_all, encode_dict

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 4)
        self.b = nn.Linear(4, 2)

def run():
    net = fill(Net())
    opt = torch.optim.SGD(net.parameters(), lr=0.3)
    extract = Extractor(net.a)
    losses = []
    for i in range(2):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        for features in (encode, encode_all, lambda m, t: encode_dict(m, t)["f"]):
            loss = F.cross_entropy(net.b(features(net.a, x)), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        h = encode(net.a, x)
        loss = F.cross_entropy(net.b(h), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        d = encode_all(net.a, x)
        loss = F.cross_entropy(net.b(d), y) + F.cross_entropy(net.b(extract(x)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        extract.store(x)
        loss = F.cross_entropy(net.b(extract.stored), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, net
# --- frozen.py
def encode(m, x):
    with torch.no_grad():
        w = m(x)
    return w

def encode_all(m, x):
    rows = []
    with torch.no_grad():
        for row in x:
            rows.append(m(row))
    return torch.stack(rows)

@torch.no_grad()
def encode_dict(m, x):
    return {"f": m(x)}

class Extractor:
    def __init__(self, m):
        self.m = m
        self.stored = None

    def __call__(self, x):
        with torch.no_grad():
            h = self.m(x)
            h = h.tanh()
        return h

    def store(self, x):
        with torch.no_grad():
            self.stored = self.m(x)

# %% [3] a bound behind a colon
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    clip, log = 0.1, []
    for i in range(3):
        loss = m(data(4, 3, seed=i) * 3).pow(2).sum()
        opt.zero_grad(); loss.backward()
        if clip: nn.utils.clip_grad_norm_(m.parameters(), clip)
        if i != 1: opt.step()
        else: log.append("skipped")
        if i: log.append(round(loss.item(), 3))
    return log, m

# %% [2] a context manager of the program that yields under no_grad
import contextlib

@contextlib.contextmanager
def frozen(net):
    net.eval()
    with torch.no_grad():
        yield net
    net.train()

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        with frozen(enc) as e:
            h = torch.tanh(e(x))
        loss = F.mse_loss(head(h), y) + h.mean()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a context manager that takes the flag
from contextlib import contextmanager

@contextmanager
def grads(on):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(on)
    try:
        yield
    finally:
        torch.set_grad_enabled(before)

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        with grads(i == 1):
            h = torch.tanh(enc(x))
        loss = F.mse_loss(head(h), y) + h.mean()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a class with __enter__ that switches gradients off
class Frozen:
    def __init__(self, on=False):
        self.on = on

    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch.set_grad_enabled(self.on)
        return self

    def __exit__(self, *error):
        torch.set_grad_enabled(self.before)

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        with Frozen():
            h = torch.tanh(enc(x))
        loss = F.mse_loss(head(h), y) + h.mean()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a subclass of no_grad
class Off(torch.no_grad):
    pass

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        with Off():
            h = torch.tanh(enc(x))
        loss = F.mse_loss(head(h), y) + h.mean()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] no_grad on an ExitStack
import contextlib

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            h = torch.tanh(enc(x))
        loss = F.mse_loss(head(h), y) + h.mean()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] no_grad entered and left by hand

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        context = torch.no_grad()
        context.__enter__()
        h = torch.tanh(enc(x))
        context.__exit__(None, None, None)
        loss = F.mse_loss(head(h), y) + h.mean()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a function that switches gradients
def switch(on):
    torch.set_grad_enabled(on)

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        switch(False)
        h = torch.tanh(enc(x))
        switch(True)
        loss = F.mse_loss(head(h), y) + h.mean()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a function that gives the context
import contextlib

def maybe(off):
    return torch.no_grad() if off else contextlib.nullcontext()

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        with maybe(i != 1):
            h = torch.tanh(enc(x))
        loss = F.mse_loss(head(h), y) + h.mean()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a block without gradients whose context is named

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(3):
        opt.zero_grad()
        with torch.set_grad_enabled(i == 1) as state:
            h = torch.tanh(enc(x))
        assert state is None
        loss = F.mse_loss(head(h), y) + h.mean()
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a context chosen as a class
import contextlib

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        opt.zero_grad()
        cm = torch.no_grad if i < 2 else contextlib.nullcontext
        with cm():
            h = F.relu(enc(x))
        loss = F.mse_loss(head(h), y)
        loss.backward()
        opt.step()
    return enc, head

# %% [2] a context chosen by if and else
import contextlib

def run():
    enc, head = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 2), 1)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
    x, y = data(4, 3), data(4, 2, seed=3)
    for i in range(4):
        opt.zero_grad()
        if i < 2:
            frozen = torch.no_grad()
        else:
            frozen = contextlib.nullcontext()
        with frozen:
            h = torch.tanh(enc(x))
        loss = F.mse_loss(head(h), y)
        loss.backward()
        opt.step()
    return enc, head

# %% [2, 21] a decorator of the program that evaluates without gradients
import functools

def evaluation(fn):
    @functools.wraps(fn)
    def wrapped(model, *args, **kwargs):
        was = model.training
        model.eval()
        with torch.no_grad():
            out = fn(model, *args, **kwargs)
        model.train(was)
        return out
    return wrapped

@evaluation
def targets(model, x):
    return torch.sigmoid(model(x)), model(x).argmax(1)

def run():
    m = nn.Sequential(fill(nn.Linear(3, 4)), nn.Tanh(), fill(nn.Linear(4, 3), 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.3)
    x = data(5, 3)
    for _ in range(3):
        soft, hard = targets(m, x)
        opt.zero_grad()
        loss = ((torch.sigmoid(m(x)) - soft * 0.9) ** 2).sum()
        loss.backward()
        opt.step()
    return m, soft, hard
