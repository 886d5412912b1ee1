# %% [0] numpy round trips
def run():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = torch.from_numpy(a)
    y = x * 2
    return y.numpy(), y.numpy().dtype.name, torch.as_tensor(a).dtype, x.detach().cpu().numpy().sum(), np.concatenate([y.numpy(), a]), np.array(y), x.numpy().tolist()

# %% [11] from_numpy shares memory
def run():
    a = np.zeros(3, dtype=np.float32)
    x = torch.from_numpy(a)
    a[0] = 5
    x[1] = 7
    b = x.numpy()
    b[2] = 9
    return x, a, b

# %% [16] numpy float64 data becomes double
def run():
    a = np.linspace(0, 1, 4)
    x = torch.from_numpy(a)
    return x, x.float(), torch.tensor(a, dtype=torch.float32), torch.Tensor(a), x.dtype, torch.FloatTensor(a), torch.as_tensor(a).to(torch.float32).mean()

# %% [0] an image from numpy to a batch
def run():
    img = (np.arange(48) * 5 % 256).astype(np.uint8).reshape(4, 4, 3)
    x = torch.from_numpy(img).permute(2, 0, 1).float().div(255.0).unsqueeze(0)
    mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225])[None, :, None, None]
    y = (x - mean) / std
    back = (y * std + mean).mul(255).clamp(0, 255).byte().squeeze(0).permute(1, 2, 0).numpy()
    return y, back, back.dtype.name, torch.from_numpy(img.transpose((2, 0, 1))).contiguous()

# %% [0] a numpy mask and numpy indices
def run():
    x = data(4, 3)
    m = np.array([True, False, True, False])
    i = np.array([2, 0])
    return x[m], x[i], x[torch.from_numpy(m)], x[:, np.array([0, 2])], x[np.arange(2), i], x[range(3), [0, 1, 2]], x[list(range(2))]

# %% [0] numpy functions of tensors
def run():
    x = data(3, 4)
    return np.mean(x.numpy(), axis=0), np.argmax(x.numpy(), 1), np.exp(x.numpy()[0]), np.asarray(x).shape, float(np.max(x.numpy())), np.stack([t.numpy() for t in x]), np.prod(x.shape)

# %% [0] tensors from lists of arrays and tensors
def run():
    rows = [np.ones(2, dtype=np.float32) * k for k in range(3)]
    ts = [torch.ones(2) * k for k in range(3)]
    return torch.tensor(np.array(rows)), torch.stack(ts), torch.tensor([t.sum() for t in ts]), torch.tensor([[1, 2], [3, 4]]).float(), torch.FloatTensor([[1, 2.5]]), torch.tensor([t.sum().item() for t in ts])

# %% [0] replay buffer batches
import random
from collections import deque, namedtuple

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))

def run():
    random.seed(0)
    memory = deque([], maxlen=10)
    for k in range(8):
        nxt = None if k % 3 == 0 else data(1, 4, seed=k + 1)
        memory.append(Transition(data(1, 4, seed=k), torch.tensor([[k % 2]]), nxt, torch.tensor([float(k)])))
    batch = Transition(*zip(*random.sample(memory, 4)))
    non_final_mask = torch.tensor(tuple(map(lambda s: s is not None, batch.next_state)), dtype=torch.bool)
    non_final = torch.cat([s for s in batch.next_state if s is not None])
    q = fill(nn.Linear(4, 2))
    values = q(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
    nxt = torch.zeros(4)
    with torch.no_grad():
        nxt[non_final_mask] = q(non_final).max(1).values
    target = nxt * 0.99 + torch.cat(batch.reward)
    return F.smooth_l1_loss(values, target.unsqueeze(1)), target

# %% [0] discounted returns
def run():
    rewards = [1, 0, 2, -1]
    R, returns = 0, []
    for r in rewards[::-1]:
        R = r + 0.9 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + np.finfo(np.float32).eps.item())
    return returns, torch.tensor(rewards).flip(0).cumsum(0).flip(0)

# %% [0] k-means by cdist
def run():
    x = data(20, 2)
    c = x[:3].clone()
    for _ in range(3):
        d = torch.cdist(x, c)
        a = d.argmin(dim=1)
        for k in range(3):
            if (a == k).any():
                c[k] = x[a == k].mean(0)
    return c, a, torch.cdist(x, c, p=1).min(1).values

# %% [0] PCA by svd
def run():
    x = data(10, 4)
    x = x - x.mean(0, keepdim=True)
    U, S, V = torch.svd(x)
    s2 = torch.linalg.svdvals(x)
    return S, s2, (x @ V[:, :2]).abs(), (S ** 2 / (len(x) - 1)).sum(), torch.linalg.matrix_rank(x), torch.linalg.norm(x), x.norm(dim=1), x.norm(p=1), torch.trace(x.t() @ x)

# %% [0] gram matrices
# in: 2,3,4,4; grad
def f(x):
    b, c, h, w = x.size()
    feats = x.view(b * c, h * w)
    G = torch.mm(feats, feats.t())
    return G.div(b * c * h * w)

# %% [0] scatter and gather
def run():
    src = torch.tensor([1.0, 2.0, 3.0, 4.0])
    idx = torch.tensor([0, 1, 0, 1])
    s = torch.zeros(2).scatter_add(0, idx, src)
    s2 = torch.zeros(3, 5).scatter_(1, torch.tensor([[0], [2], [4]]), 1.0)
    s3 = torch.zeros(2).index_add_(0, idx, src)
    return s, s2, s3, s2.gather(1, torch.tensor([[0], [2], [3]])), torch.zeros(2, 3).scatter_(0, torch.tensor([[0, 1, 1]]), torch.tensor([[5.0, 6.0, 7.0]])), torch.zeros(2).scatter_reduce(0, idx, src, reduce="amax")

# %% [0] unfold and fold
# in: 1,2,4,4; grad
def f(x):
    cols = F.unfold(x, kernel_size=2, stride=2)
    back = F.fold(cols * 2, output_size=(4, 4), kernel_size=2, stride=2)
    return back + F.fold(F.unfold(x, 3, padding=1), (4, 4), 3, padding=1)

# %% [0] windows by Tensor.unfold
# in: 2,6
def f(x):
    w = x.unfold(1, 3, 2)
    return w, w.mean(-1), x.unfold(dimension=-1, size=2, step=1).sum(-1)

# %% [0] patches by reshape and permute
# in: 2,3,4,4; grad
def f(x):
    p = 2
    b, c, h, w = x.shape
    y = x.reshape(b, c, h // p, p, w // p, p)
    y = torch.einsum("nchpwq->nhwpqc", y)
    return y.reshape(b, (h // p) * (w // p), p * p * c)

# %% [0] interpolation modes
# in: 1,2,4,4; grad
def f(x):
    a = F.interpolate(x, scale_factor=2, mode="nearest")
    b = F.interpolate(x, size=(8, 8), mode="bilinear", align_corners=False)
    c = F.interpolate(x, size=8, mode="bilinear", align_corners=True)
    return a + b + c + F.interpolate(x, scale_factor=2.0, mode="bicubic", align_corners=False)

# %% [0] downsampling and areas
# in: 1,2,6,6
def f(x):
    return F.interpolate(x, size=(3, 3), mode="area"), F.interpolate(x, scale_factor=0.5, mode="nearest"), F.adaptive_avg_pool2d(x, (2, 3)), F.avg_pool2d(x, 2, ceil_mode=True), F.max_pool2d(x, 3, 2, 1), F.interpolate(x, scale_factor=0.5, mode="bilinear", align_corners=False)

# %% [0] grid_sample and affine_grid
# in: 1,1,4,4; grad
def f(x):
    theta = torch.tensor([[[1.0, 0.1, 0.0], [0.0, 0.9, 0.1]]])
    grid = F.affine_grid(theta, x.size(), align_corners=False)
    return F.grid_sample(x, grid, align_corners=False) + F.grid_sample(x, grid, mode="nearest", padding_mode="border", align_corners=True)

# %% [0] fft of signals
def run():
    x = data(8)
    X = torch.fft.fft(x)
    r = torch.fft.rfft(x)
    return X.abs(), torch.fft.ifft(X).real, r.real, r.imag, torch.fft.irfft(r, n=8), torch.fft.fftfreq(8), torch.angle(X), torch.view_as_real(r)

# %% [0] two dimensional spectra
def run():
    x = data(2, 4, 4)
    s = torch.fft.fftshift(torch.fft.fft2(x))
    return torch.log(1 + s.abs()), torch.fft.rfft2(x).shape, torch.fft.ifft2(torch.fft.fft2(x)).real, torch.fft.irfft2(torch.fft.rfft2(x), s=(4, 4))

# %% [0] a Fourier layer
class Spectral(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(data(2, 2, 3, 2) * 0.3)

    def forward(self, x):
        xf = torch.fft.rfft(x)
        w = torch.view_as_complex(self.w)
        out = torch.zeros(x.size(0), 2, x.size(-1) // 2 + 1, dtype=torch.cfloat)
        out[:, :, :3] = torch.einsum("bix,iox->box", xf[:, :, :3], w)
        return torch.fft.irfft(out, n=x.size(-1))

def run():
    return Spectral()(data(2, 2, 8))

# %% [0] complex numbers by hand
def run():
    z = torch.complex(data(3), data(3, seed=2))
    return z.real, z.imag, z.abs(), z.conj().imag, (z * z).real, z.angle(), torch.is_complex(z), z.dtype, torch.view_as_real(z), (z * 1j).real

# %% [0] stft magnitude
def run():
    x = data(1, 64)
    s = torch.stft(x, n_fft=16, hop_length=8, window=torch.hann_window(16), return_complex=True)
    return s.abs(), s.shape

# %% [0] cumulative products and transmittance
# in: 3,5; grad
def f(sigma):
    alpha = 1.0 - torch.exp(-F.relu(sigma) * 0.5)
    T = torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1)), 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
    return alpha * T

# %% [0] inverse transform sampling
# in: 2,5
def f(w):
    w = torch.softmax(w, -1) + 1e-5
    cdf = torch.cumsum(w / w.sum(-1, keepdim=True), -1)
    cdf = torch.cat([torch.zeros_like(cdf[..., :1]), cdf], -1)
    u = torch.linspace(0.05, 0.95, steps=4).expand(list(cdf.shape[:-1]) + [4]).contiguous()
    inds = torch.searchsorted(cdf, u, right=True)
    below = torch.max(torch.zeros_like(inds - 1), inds - 1)
    above = torch.min((cdf.shape[-1] - 1) * torch.ones_like(inds), inds)
    return torch.gather(cdf, 1, below), torch.gather(cdf, 1, above), inds

# %% [0] tril, triu, diag and bands
def run():
    x = data(4, 4)
    return x.tril(), torch.triu(x, 1), torch.tril(torch.ones(3, 3)).bool(), torch.diag(x), torch.diag_embed(x[0]), torch.eye(3)[torch.tensor([0, 2])], torch.block_diag(torch.ones(1, 2), torch.ones(2, 1)), x.diagonal(1), torch.tril_indices(3, 3), torch.triu_indices(3, 3, 1)

# %% [0] roll, flip, rot90, repeat
def run():
    x = torch.arange(6).reshape(2, 3)
    return torch.roll(x, 1), x.roll((1, 1), (0, 1)), x.flip(1), torch.rot90(x), x.repeat(2, 1), x.repeat_interleave(2, dim=0), torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([2, 3])), x.tile(1, 2), torch.tile(x, (2, 1)), x.expand(2, 2, 3).shape

# %% [0] meshgrids and coordinates
def run():
    h, w = 2, 3
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
    coords = torch.stack([xx, yy], dim=-1)
    cart = torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    return coords, cart, torch.combinations(torch.tensor([1, 2, 3])), coords.view(-1, 2).norm(dim=-1)

# %% [0] kernels and finite differences
# in: 1,1,5,5; grad
def f(x):
    k = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]).view(1, 1, 3, 3)
    gx = F.conv2d(x, k, padding=1)
    gy = F.conv2d(x, k.transpose(2, 3), padding=1)
    tv = (x[:, :, 1:, :] - x[:, :, :-1, :]).abs().mean() + torch.diff(x, dim=3).abs().mean()
    return torch.sqrt(gx ** 2 + gy ** 2 + 1e-6) + tv

# %% [0] a gaussian kernel
def run():
    size, sigma = 5, 1.5
    coords = torch.arange(size).float() - size // 2
    g = torch.exp(-(coords ** 2) / (2 * sigma ** 2))
    g /= g.sum()
    k = g[:, None] * g[None, :]
    w = k.expand(3, 1, size, size).contiguous()
    return w, F.conv2d(data(1, 3, 6, 6), w, padding=size // 2, groups=3), F.pad(data(1, 1, 3, 3), (1, 1, 1, 1), mode="reflect"), F.pad(data(1, 1, 3, 3), [2, 0, 0, 1], value=2)

# %% [0] logsumexp and stable losses
# in: 4,5 4:int64:0:5; grad
def f(x, y):
    lse = torch.logsumexp(x, dim=1)
    nll = lse - x.gather(1, y[:, None]).squeeze(1)
    m = x.max(1, keepdim=True).values
    return nll + torch.log(torch.exp(x - m).sum(1)) + F.softplus(x).mean() + F.logsigmoid(x).sum(1)

# %% [0] contrastive losses
# in: 4,6 4,6; grad
def f(a, b):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / 0.5
    n = a.shape[0]
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)

# %% [0] triplet mining
# in: 6,4 6:int64:0:3; grad
def f(e, y):
    d = torch.cdist(e, e)
    same = y.unsqueeze(0) == y.unsqueeze(1)
    hardest_pos = (d * same.float()).max(1)[0]
    hardest_neg = (d + d.max().detach() * same.float()).min(1)[0]
    return F.relu(hardest_pos - hardest_neg + 0.3).mean()

# %% [0] a covariance and whitening
# in: 8,3
def f(x):
    x = x - x.mean(0)
    cov = x.T @ x / (x.shape[0] - 1)
    L = torch.linalg.cholesky(cov + 1e-3 * torch.eye(3))
    return cov, L, torch.linalg.inv(cov + torch.eye(3)), torch.linalg.solve(cov + torch.eye(3), x[:3]), torch.det(cov), torch.logdet(cov + torch.eye(3))


# %% [16] numpy's numbers in lists
def run():
    losses = [np.float64(0.5), np.float64(1.5)]
    means = [np.mean([1.0, 2.0]), np.mean([3.0])]
    return (
        torch.tensor(losses),
        torch.tensor(means),
        torch.tensor([np.float32(1)]),
        torch.tensor([np.int32(1)]),
        torch.tensor([1.0, np.float64(2)]),
        torch.tensor([np.bool_(True)]),
    )


# %% magnitudes of spectra from another function
def spectrum(x, power):
    s = torch.fft.rfft(x)
    return s if power is None else s.abs() ** power


def run():
    x = data(2, 8)
    s = spectrum(x, None)
    parts = [s, s * 2]
    return s.abs(), torch.abs(parts[1]), spectrum(x, 2), [p.abs().mean() for p in parts], (x - 1).abs()


# %% a copy by as_tensor, then the array changes
def run():
    a = np.linspace(0, 1, 6)
    c = torch.as_tensor(a, dtype=torch.float32)
    d = torch.tensor(a)
    e = torch.as_tensor(a)
    a[1] = -3
    return c, d, e
