# %% [16] in place keeps the left dtype, by operators
def run():
    a = torch.tensor([1, 2, 3], dtype=torch.int32)
    a += torch.tensor([1, 1, 1])
    h = torch.ones(2, dtype=torch.float16)
    h *= torch.tensor([2.0, 3.0])
    u = torch.tensor([250, 5], dtype=torch.uint8)
    u += 10
    return a, h, u

# %% [16] in place keeps the left dtype, by methods
def run():
    x = torch.zeros(3)
    x.add_(torch.tensor([1, 2, 3]))
    x.sub_(torch.ones(3, dtype=torch.float64) * 0.25)
    i = torch.zeros(3, dtype=torch.int64)
    i.add_(torch.tensor([1, 2, 3], dtype=torch.uint8)).mul_(2)
    return x, i

# %% [16] counting with booleans
# in: 6,4:int64:0:3 6,4:int64:0:3
def f(pred, target):
    hit = pred == target
    return hit.sum(), hit.sum(1), hit.sum(dim=0, keepdim=True), hit.float().mean(), hit.any(1), hit.all(0), (~hit).sum()

# %% [16] boolean arithmetic
def run():
    a = torch.tensor([True, False, True])
    b = torch.tensor([True, True, False])
    return a + b, a * b, a * 2, a * 0.5, a + 1, a & b, a | b, a ^ b, a.long() - b.long(), 1 - a.int(), a.sum() / 2

# %% [16] floor division and remainder of negative numbers
def run():
    a = torch.tensor([-7, -1, 0, 1, 7])
    x = torch.tensor([-7.5, -1.0, 0.0, 1.0, 7.5])
    return a // 2, a % 3, a // -2, a % -3, x // 2, x % 2, x // -2, x % -2, torch.fmod(a, 3), torch.fmod(x, 2), torch.floor_divide(a, 2)

# %% [16] shifts and bits
def run():
    a = torch.tensor([1, 2, 255])
    return a << 2, a >> 1, a & 3, a | 8, a ^ 1, ~a, torch.bitwise_and(a, torch.tensor(6)), 1 << a[:2]

# %% [16] a number on the left
def run():
    a = torch.tensor([1, 2, 4])
    return 1 / a, 2 - a, 1.0 - a, 3 * a, 2 ** a, 7 // a, 7 % a, 2.0 ** a, True + a

# %% [16] int32 and int64 indices
def run():
    x = data(4, 3)
    i = torch.tensor([2, 0], dtype=torch.int32)
    return x[i.long()], x.index_select(0, i), x[torch.tensor([1, 3])], torch.arange(3, dtype=torch.int32) + torch.arange(3)

# %% [16] the dtype of reductions
def run():
    i = torch.tensor([[1, 2], [3, 4]], dtype=torch.int32)
    u = torch.tensor([[200, 100], [3, 4]], dtype=torch.uint8)
    b = i > 1
    return i.sum().dtype, u.sum(0), u.prod(), b.cumsum(0), i.cumprod(1), i.max(), u.min(), b.float().std(), i.float().var(0), i.argmax(), u.max(dim=1).values, i.amax(1)

# %% [16] sum with a dtype
def run():
    x = data(3)
    i = torch.tensor([1, 2, 3])
    return x.sum(dtype=torch.float64), i.sum(dtype=torch.float32), i.sum(dtype=torch.int32), i.float().mean(dtype=torch.float64), torch.sum(i, 0, dtype=torch.uint8), i.cumsum(0, dtype=torch.float32)

# %% [16] mean of integers after a cast
def run():
    i = torch.tensor([1, 2, 4])
    return i.float().mean(), i.double().mean(), i.sum() / i.numel(), i.sum().float() / len(i), torch.mean(i.to(torch.float32)), i.sum() // 2

# %% [16] Python numbers and 0-d tensors
def run():
    h = torch.ones(2, dtype=torch.float16)
    i = torch.tensor([1, 2], dtype=torch.int16)
    s = torch.tensor(3)
    return h * 2.5, h + 1, i * 2, i * 2.5, i + s, s + 0.5, h + s, torch.tensor(2.5) * i, s / 2, s * torch.tensor(1.5, dtype=torch.float64)

# %% [16] float64 numpy scalars
def run():
    x = data(3)
    w = np.float64(0.5)
    return x * w, x + np.float32(1.0), x * np.pi, torch.tensor(w), torch.tensor([w, 1.0]), torch.tensor(np.int32(4)), x / np.sqrt(2.0)

# %% [16] cat of mixed dtypes in a loop
def run():
    parts = []
    for k in range(3):
        parts.append(torch.arange(k) if k % 2 else torch.ones(1) * k)
    return torch.cat(parts), torch.cat([torch.zeros(1, dtype=torch.uint8), torch.tensor([300])])

# %% [16] where of mixed dtypes
def run():
    m = torch.tensor([True, False, True])
    i = torch.tensor([1, 2, 3])
    x = torch.tensor([0.5, 0.25, 0.125])
    return torch.where(m, i, x), torch.where(m, i, 0), torch.where(m, i, 0.5), torch.where(m, x, i.double()), x.where(m, torch.tensor(-1)), torch.where(m, 1, 0.0)

# %% [16] arange, linspace and friends
def run():
    return torch.arange(3), torch.arange(0, 1, 0.25), torch.arange(3.0), torch.arange(1, 6, 2), torch.arange(4, dtype=torch.float32), torch.linspace(0, 1, 3), torch.linspace(0, 10, 3, dtype=torch.int64), torch.logspace(0, 2, 3), torch.eye(2), torch.eye(2, dtype=torch.bool)

# %% [16] full, full_like, new_full
def run():
    i = torch.tensor([1, 2])
    x = data(2)
    return torch.full((2,), True), torch.full((2,), 1), torch.full((2,), 1.5), torch.full_like(i, 2.7), torch.full_like(x, 3), i.new_full((2,), 3.9), x.new_full((1,), 2), i.new_zeros(2), i.new_tensor([1.5, 2.5]), x.new_ones(2), i.new_ones(1, dtype=torch.float32)

# %% [16] ones_like and zeros_like of integers and masks
def run():
    i = torch.tensor([1, 2], dtype=torch.int32)
    b = i > 1
    return torch.zeros_like(i), torch.ones_like(b), torch.ones_like(b, dtype=torch.float32), torch.zeros_like(data(2).half()), torch.rand_like(data(2)).dtype, torch.randint_like(i, 3).dtype, torch.empty_like(b).dtype

# %% [16] the default dtype
def run():
    old = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    a = torch.zeros(2), torch.tensor([1.5]), torch.tensor([1]) / 2
    torch.set_default_dtype(old)
    return a, torch.zeros(1), str(old)

# %% [16] clamp with tensors and numbers
def run():
    x = torch.tensor([-2.0, 0.5, 3.0])
    i = torch.tensor([-2, 0, 3])
    return x.clamp(0, 1), x.clamp(min=0), i.clamp(0, 2), i.clamp(max=1), torch.clamp(x, min=torch.tensor([-1.0, 1.0, 0.0])), i.clamp(0.5, 2.5), torch.clip(x, -1, 1), x.clamp_min(0.0), x.clamp_max(1)

# %% [16] maximum and minimum of mixed dtypes
def run():
    i, x = torch.tensor([1, 5]), torch.tensor([2.5, 2.5])
    return torch.maximum(i, x), torch.minimum(x, i), torch.max(i, torch.tensor([3, 3], dtype=torch.int32)), torch.min(i.double(), x.double())

# %% [16] matmul of integers
def run():
    a = torch.arange(6).reshape(2, 3)
    return a @ a.t(), torch.matmul(a, torch.tensor([1, 0, 1])), torch.dot(a[0], a[1]), torch.mm(a.float(), a.t().float()), torch.einsum("ij,kj->ik", a, a)

# %% [16] pow and roots
def run():
    i = torch.tensor([1, 4, 9])
    x = torch.tensor([1.0, 4.0])
    return i ** 2, i ** 0.5, i.sqrt(), i.pow(2.0), x ** 3, x ** -0.5, x ** i[:2], 10 ** (-x / 20), torch.rsqrt(i), i.square(), i.float().reciprocal(), i.reciprocal()

# %% [16] functions of integers give floats
def run():
    i = torch.tensor([1, 2, 3])
    return torch.exp(i), i.log(), torch.cos(i), torch.tanh(i), i.sigmoid(), torch.log2(i), i.log10(), torch.log1p(i), torch.erf(i), torch.atan2(i, i)

# %% [16] abs, neg, sign, square of integers
def run():
    i = torch.tensor([-2, 0, 3], dtype=torch.int32)
    u = torch.tensor([2, 0], dtype=torch.uint8)
    return i.abs(), -i, i.sign(), i.square(), -u, u - 3, i.float().sign(), torch.abs(i.long())

# %% [16] half precision by hand
def run():
    x = data(4).half()
    y = x * 2 + 1
    return y, y.float(), (x @ x).dtype, x.sum(), x.mean().dtype, torch.softmax(x.float(), 0).half(), x.to(torch.float32).norm()

# %% [16] bfloat16 casts
def run():
    x = data(4)
    b = x.bfloat16()
    return b.dtype, b.float(), x.to(torch.bfloat16).to(torch.float32), (x.bfloat16() + 1).dtype

# %% [16] comparison of mixed dtypes
def run():
    i, x = torch.tensor([1, 2]), torch.tensor([1.0, 2.5])
    return i == x, i < x, i >= 1.5, x != 1, torch.equal(i, i.clone()), torch.allclose(x, x.clone()), torch.isclose(x, torch.tensor([1.0, 2.6])), (i > 1) == True

# %% [16] is_floating_point and type questions
def run():
    x, i = data(2), torch.tensor([1])
    return x.is_floating_point(), torch.is_floating_point(i), torch.is_tensor(x), torch.is_tensor(1), x.dtype == torch.float32, i.dtype in (torch.int64, torch.int32), x.dtype.is_floating_point, i.element_size(), torch.finfo(x.dtype).max > 1e30, torch.iinfo(torch.int32).max, torch.result_type(x, i), torch.promote_types(torch.int32, torch.float32)

# %% [16] one_hot is an integer tensor
# in: 5:int64:0:3
def f(y):
    h = F.one_hot(y, 4)
    return h, h.float(), h.sum(0), h * 0.9 + 0.1 / 4, h.bool(), 1 - h

# %% [16] label smoothing by hand
# in: 4,5 4:int64:0:5; grad
def f(logits, y):
    eps, n = 0.1, logits.size(1)
    one_hot = torch.zeros_like(logits).scatter(1, y.view(-1, 1), 1)
    one_hot = one_hot * (1 - eps) + (1 - one_hot) * eps / (n - 1)
    return -(one_hot * F.log_softmax(logits, dim=1)).sum(dim=1).mean()

# %% [16] accumulating counts in an integer tensor
def run():
    total = torch.zeros(3, dtype=torch.long)
    for k in range(3):
        total += torch.bincount(labels(5, 3, seed=k), minlength=3)
        total[k] += 1
    return total, total / total.sum(), total.float() / 2

# %% [16] averages of uint8 images
def run():
    img = torch.tensor(np.arange(24, dtype=np.uint8).reshape(2, 3, 4) * 10)
    return img.float().mean((1, 2)), img.float() / 255, img / 255, img.double().std(), img[0] - img[1], (255 - img), img.sum(), img.max(), img // 2, img > 100

# %% [16] lerp, addcmul, addcdiv with numbers
def run():
    a, b = data(3), data(3, seed=2)
    return torch.lerp(a, b, 0.25), torch.addcmul(a, a, b, value=0.5), torch.addcdiv(a, a, b.abs() + 1, value=2), a.lerp(b, torch.tensor(0.5)), torch.add(a, b, alpha=2), torch.sub(a, b, alpha=0.5), a.mul(2).div(3)

# %% [16] sorting and unique
def run():
    i = torch.tensor([3, 1, 2, 3, 1])
    v, idx = i.sort(descending=True, stable=True)
    u, inv, cnt = torch.unique(i, return_inverse=True, return_counts=True)
    return v, idx, u, inv, cnt, i.unique(), torch.unique_consecutive(i), i.argsort(stable=True), i.float().median(), i.mode().values, i.kthvalue(2).values

# %% [16] quantiles, histograms and bins
def run():
    x = data(20)
    return torch.quantile(x, 0.5), torch.quantile(x, torch.tensor([0.1, 0.9])), torch.histc(x, bins=4, min=-2, max=2), torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])), torch.searchsorted(torch.tensor([0.0, 1.0]), x), x.median(), torch.digamma(x.abs() + 1)

# %% [16] bincount with weights
def run():
    i = torch.tensor([0, 1, 1, 3])
    return torch.bincount(i), torch.bincount(i, minlength=6), torch.bincount(i, weights=torch.tensor([0.5, 1.0, 1.0, 2.0])), i.bincount()

# %% [16] uint8 overflow and casts
def run():
    u = torch.tensor([200, 100], dtype=torch.uint8)
    x = torch.tensor([-1.5, 2.7])
    return u + u, u * 2, u.int() + u.int(), x.to(torch.int8), x.long(), x.int(), torch.tensor([300]).to(torch.uint8), x.bool(), u.float()

# %% [16] cumsum positions of a padding mask
# in: 2,5:int64:0:3
def f(tokens):
    mask = tokens.ne(1).int()
    positions = (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + 1
    return positions, torch.cumsum(mask, dim=1), mask.cumsum(-1) - 1

# %% [16] accuracy over batches
def run():
    correct = total = 0
    for k in range(3):
        out, y = data(8, 4, seed=k), labels(8, 4, seed=k)
        _, predicted = torch.max(out.data, 1)
        total += y.size(0)
        correct += (predicted == y).sum()
    print("Accuracy: %d %%" % (100 * correct / total))
    return correct, 100 * correct / total, correct.item() / total, 100 * correct // total

# %% [16] division of counts
# in: 6:int64:0:3 6:int64:0:3
def f(a, b):
    tp = ((a == 1) & (b == 1)).sum()
    fp = ((a == 1) & (b != 1)).sum()
    fn = ((a != 1) & (b == 1)).sum()
    precision = tp / (tp + fp + 1e-8)
    recall = tp.float() / (tp + fn).clamp(min=1)
    return tp, precision, recall, 2 * precision * recall / (precision + recall + 1e-8)


# %% [16] a 0-d tensor counts as a number
def run():
    a = torch.arange(3, dtype=torch.int32)
    b = torch.tensor(2)
    wide = torch.tensor(0.5, dtype=torch.float64)
    x = data(2)
    return a + b, a * b, b - a, a // b, x + wide, wide - x, x.half() + torch.tensor(1.0)


# %% [16] 0-d tensors in buffers and attributes
class Scaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("eps", torch.tensor(1e-5, dtype=torch.float64))
        self.k = torch.tensor(2)

    def forward(self, x, i):
        spread = x.std(0)
        return x / (spread + self.eps), i.int() + self.k


def run():
    return Scaler()(data(4, 2), torch.arange(3, dtype=torch.int32))


# %% [16] a 0-d double behind a computed float
def run():
    x = data(3)
    wide = torch.tensor(0.5, dtype=torch.float64)
    return (x + 1) - wide, ((x + 1) - wide).dtype


# %% [16] a 0-d whole number beside an argument of a narrow dtype
class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.tensor(2)

    def forward(self, i):
        return i + self.k


def run():
    return Shift()(torch.arange(3, dtype=torch.int32))


# %% [16] a total of doubles beside floats
def run():
    x, y = data(3), torch.from_numpy(np.arange(4.0))
    total = y.double().sum()
    return x + total, x - y.double().mean(), (x + total).dtype


# %% [16] the mean of whole numbers raises
def run():
    found = []
    for attempt in (lambda: torch.arange(3).mean(), lambda: torch.ones(2).long().std()):
        try:
            found.append(attempt())
        except RuntimeError:
            found.append("raised")
    return found, torch.arange(3).float().mean(), torch.arange(3).mean(dtype=torch.float32)


# %% [16] any and all of bytes
def run():
    u = torch.tensor([[1, 0], [1, 1]]).byte()
    return u.any(), u.all(1), torch.any(u, 0), (u > 0).any(), u.bool().all()


# %% [16] 0-d numbers around expressions of unknown dtype
def shift(x, y):
    wide = torch.tensor(0.25, dtype=torch.float64)
    step = torch.tensor(3)
    return (x * 2) - wide, wide + (x - 1), (y + 1) // step, y % step, step - y


def run():
    return shift(data(3), torch.arange(4, dtype=torch.int32)), shift(data(2).half(), torch.arange(4))


# %% [16] shifts with the tensor on the right
def run():
    a = torch.arange(4)
    return 1 << a, 255 >> a, (a + 1) << 1, 2 << (a + 1), (1 << a).sum()


# %% [16] joined lists of several dtypes
def gather(x, flags):
    parts = [x > 0]
    parts.append(x)
    more = []
    more += [torch.arange(3)]
    more.extend([torch.zeros(3), torch.ones(3).bool()])
    some = []
    for flag in flags:
        some.append(torch.ones(2) if flag else torch.arange(2))
    return torch.cat(parts), torch.stack(more), torch.cat(some)


def run():
    return gather(data(3), [True, False])


# %% [16] shifts of what a function without types gives
def pack(q):
    q = q.to(torch.uint8) & 0xF
    return q[:, ::2] | (q[:, 1::2] << 4)


def run():
    p = pack(torch.tensor([[1, 2, 3, 4]]))
    return p & 15, p >> 4, (p >> 2).long()

# %% [16] truth values among what a gradient's function keeps
def mine(x, y):
    ce = F.cross_entropy(x, y, reduction="none")
    rank = ce.sort(descending=True)[1].sort()[1]
    keep = rank < 3
    return ce[keep].sum(), keep

def run():
    x = data(6, 3).requires_grad_()
    loss, keep = mine(x, labels(6, 3))
    loss.backward()
    return loss, keep, x.grad, keep.sum()

# %% [16] a helper's counts added up
def counts(mask):
    return mask.int(), mask.sum(0), mask.byte()

def run():
    a, b, c = counts(data(4, 3) > 0)
    total = torch.zeros(3, dtype=torch.int32)
    total += b.int()
    return a.sum().dtype, b.dtype, c.sum().dtype, a.cumsum(0), c.cumsum(0), total

# %% [16] a double without dimensions beside whole numbers
def run():
    s, h = torch.tensor(2.5, dtype=torch.float64), torch.tensor(1.5).half()
    i, u, b = torch.arange(3), torch.ones(2, dtype=torch.uint8), torch.tensor([True, False])
    return s + i, i * s, u - s, b + s, i + h, torch.maximum(s, i), torch.where(b, u, s), s * torch.ones(2), i / s

# %% [16] a statistic of an array beside counts
def run():
    mean = torch.tensor(np.array([1.0, 2.0, 4.0]).mean())
    counts = torch.tensor([1, 2, 3])
    return counts - mean, (counts - mean).dtype, counts.float() - mean, counts + torch.tensor(np.float32(1.5))

# %% [16] a whole number without dimensions beside truth values
# in: 4:bool
def f(mask):
    n = torch.tensor(3)
    return mask * n, n * mask.sum(), torch.where(mask, n, 0)
