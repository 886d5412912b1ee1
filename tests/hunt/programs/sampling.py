# %% [0] seeds make the same numbers
def run():
    torch.manual_seed(3)
    a = torch.rand(4)
    torch.manual_seed(3)
    b = torch.rand(4)
    return bool((a == b).all()), a.shape, bool((a >= 0).all() and (a < 1).all())

# %% [0] randperm and subsets
def run():
    torch.manual_seed(0)
    p = torch.randperm(10)
    x = torch.arange(10)[p]
    return sorted(p.tolist()), x.sum(), p.dtype, len(set(x[:5].tolist())), torch.randperm(4)[:2].shape

# %% [0] multinomial of certain outcomes
def run():
    p = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    a = torch.multinomial(p, 1)
    b = torch.multinomial(p, num_samples=3, replacement=True)
    return a, b, a.squeeze(-1).tolist(), torch.multinomial(torch.tensor([0.2, 0.8]), 2).sort().values

# %% [0] distributions
from torch.distributions import Categorical, Normal, Bernoulli, kl_divergence

def run():
    logits = data(2, 3)
    c = Categorical(logits=logits)
    n = Normal(torch.zeros(2), torch.ones(2) * 2)
    a = c.sample()
    return c.entropy(), c.log_prob(torch.tensor([0, 2])), c.probs, n.log_prob(data(2)), kl_divergence(n, Normal(torch.ones(2), torch.ones(2))), a.shape, a.dtype, Bernoulli(torch.tensor([0.3])).entropy(), n.rsample().shape

# %% [0] a policy step
from torch.distributions import Categorical

def run():
    policy = fill(nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1)))
    m = Categorical(policy(data(1, 4)))
    action = m.sample()
    return m.log_prob(torch.tensor([1])), action.item() in (0, 1, 2), m.entropy().mean()

# %% [0] noise with the right statistics
def run():
    torch.manual_seed(0)
    a = torch.randn(4000)
    b = torch.empty(4000).uniform_(-1, 1)
    c = torch.normal(2.0, 0.5, size=(4000,))
    d = torch.bernoulli(torch.full((4000,), 0.3))
    return [bool(abs(t.mean() - m) < 0.06) for t, m in ((a, 0), (b, 0), (c, 2), (d, 0.3))], bool(abs(a.std() - 1) < 0.05), bool(b.max() < 1)

# %% [0] generators
def run():
    g = torch.Generator().manual_seed(5)
    a = torch.rand(3, generator=g)
    g2 = torch.Generator()
    g2.manual_seed(5)
    b = torch.rand(3, generator=g2)
    return torch.equal(a, b), torch.randint(0, 5, (4,), generator=g).shape, torch.randperm(4, generator=g).sum(), g.initial_seed()

# %% [0] the RNG state kept and restored
def run():
    state = torch.get_rng_state()
    a = torch.rand(3)
    torch.set_rng_state(state)
    return torch.equal(a, torch.rand(3))

# %% [0] randint ranges and dtypes
def run():
    a = torch.randint(3, (50,))
    b = torch.randint(2, 4, (50,))
    c = torch.randint(0, 2, (5, 2), dtype=torch.int32)
    return a.dtype, bool(a.max() <= 2), bool(b.min() >= 2), c.dtype, c.shape, torch.randint(high=3, size=(2,)).shape

# %% [0] gumbel softmax
def run():
    x = data(4, 5)
    g = F.gumbel_softmax(x, tau=1.0, hard=True)
    return g.sum(1), g.max(1).values, F.gumbel_softmax(x, tau=0.5).sum(-1)

# %% [0] reparametrisation
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std * 0

    def forward(self, x):
        mu, logvar = self.fc(x).chunk(2, dim=1)
        return self.reparameterize(mu, logvar), mu, logvar

def run():
    z, mu, logvar = fill(VAE())(data(3, 4))
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return z, kld

# %% [0] mixup with a fixed permutation
def run():
    np.random.seed(0)
    lam = np.random.beta(1.0, 1.0)
    x, y = data(4, 3), labels(4, 3)
    index = torch.tensor([2, 0, 3, 1])
    mixed = lam * x + (1 - lam) * x[index, :]
    ya, yb = y, y[index]
    out = fill(nn.Linear(3, 3))(mixed)
    return lam * F.cross_entropy(out, ya) + (1 - lam) * F.cross_entropy(out, yb), mixed

# %% [0] a diffusion schedule
def run():
    betas = torch.linspace(1e-4, 0.02, 10)
    alphas = 1.0 - betas
    bar = torch.cumprod(alphas, dim=0)
    prev = F.pad(bar[:-1], (1, 0), value=1.0)
    t = torch.tensor([0, 5, 9])
    x = data(3, 1, 2, 2)
    a = bar.gather(-1, t).reshape(3, *((1,) * (len(x.shape) - 1)))
    return torch.sqrt(a) * x + torch.sqrt(1 - a) * 0.5, betas * (1 - prev) / (1 - bar), bar[t][:, None, None, None].shape

# %% [0] epsilon greedy
import random

def run():
    random.seed(2)
    q = torch.tensor([[0.1, 0.9, 0.3]])
    out = []
    for step in range(4):
        if random.random() > 0.3:
            out.append(q.max(1)[1].view(1, 1).item())
        else:
            out.append(random.randrange(3))
    return out

# %% [0] dropout masks by hand
def run():
    torch.manual_seed(0)
    x = torch.ones(1000)
    mask = (torch.rand(x.shape) > 0.5).float()
    y = x * mask / 0.5
    return set(y.unique().tolist()) == {0.0, 2.0}, bool(abs(y.mean() - 1) < 0.15), F.dropout(x, 0.5, training=False).mean(), nn.Dropout(0.5).eval()(x).sum()


# %% [13] seeding torch leaves numpy's stream alone
def run():
    np.random.seed(0)
    first = np.random.rand(2)
    torch.manual_seed(3)
    return first, np.random.rand(2)


# %% [13] a seed beyond 32 bits, and numpy's draws imported by name
from numpy.random import rand, seed


def run():
    seed(1)
    torch.manual_seed(2**40 + 7)
    torch.cuda.manual_seed_all(5)
    return rand(3)


# %% [13] the state of the generator is restored
def run():
    torch.manual_seed(3)
    state = torch.get_rng_state()
    first = torch.rand(3)
    torch.set_rng_state(state)
    return bool((torch.rand(3) == first).all())
