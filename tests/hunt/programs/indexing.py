# %% [9] an integer, a slice, two index tensors
# in: 2,3,4,4 5:int64:0:4 5:int64:0:4
def f(x, ys, xs):
    return x[0, :, ys, xs]

# %% [9] the batch's number in a loop, points of a feature map
# in: 2,3,4,4 2,5:int64:0:4 2,5:int64:0:4
def f(feat, ys, xs):
    out = []
    for b in range(feat.shape[0]):
        out.append(feat[b, :, ys[b], xs[b]])
    return torch.stack(out)

# %% [9] an integer, a slice, a boolean mask
# in: 2,3,4,5 4,5:bool
def f(x, mask):
    return x[1, :, mask]

# %% [9] an integer, a slice, a list
# in: 2,3,4
def f(x):
    return x[0, :, [0, 1]]

# %% [9] a square case that is silently transposed
# in: 2,3,4 ; grad
def f(x):
    return x[0, :, [0, 1, 2]]

# %% [9] a negative integer last, an index tensor first
# in: 3,4,5 2:int64:0:3
def f(x, rows):
    return x[rows, :, -1]

# %% [9] write with an integer beside an index tensor
# in: 2,3,4 3:int64:0:4
def f(x, cols):
    out = torch.zeros_like(x)
    out[0, :, cols] = 1.0
    return out

# %% [9] write of a matrix at an integer and an index tensor
# in: 2,3,5 3,2
def f(x, values):
    x = x.clone()
    x[1, :, [0, 3]] = values
    return x

# %% [9] augmented write at an integer beside an index tensor
# in: 2,3,5 2:int64:0:2
def f(x, cols):
    x = x.clone()
    x[0, :, cols] += 2.0
    return x

# %% [9] the number of a box beside a mask
def run():
    masks = data(2, 3, 4, 4)
    boxes = torch.tensor([[True, False, True, False]] * 4)
    total = []
    for i in range(masks.size(0)):
        total.append(masks[i, :, boxes].mean(dim=1))
    return torch.stack(total)

# %% [9] an ellipsis between an integer and an index tensor
# in: 2,3,4,5 3:int64:0:5
def f(x, cols):
    return x[0, ..., cols]

# %% [9] index tensors on both sides of a slice
# in: 3,4,5 2:int64:0:3 2:int64:0:5
def f(x, rows, cols):
    return x[rows, :, cols]

# %% [9] None between the indices
# in: 3,4,5 2:int64:0:4
def f(x, cols):
    return x[0, None, cols], x[:, None, cols]

# %% [9] a whole-number variable beside arange
# in: 2,6,6,3
def f(x):
    k = 1
    idx = torch.arange(3)
    return x[k, :, idx, 0], x[k, idx, :, 2]

# %% [9] heat map peaks of each key point
def run():
    heat = data(2, 3, 4, 5)
    scores = []
    for n in range(2):
        for j in range(3):
            flat = int(heat[n, j].reshape(-1).argmax())
            y, x = divmod(flat, 5)
            scores.append(heat[n, :, y, x])
    ys, xs = torch.tensor([0, 3]), torch.tensor([4, 1])
    return torch.stack(scores), heat[0, 1:, ys, xs]

# %% [9] a zero-dimensional tensor as the integer
# in: 2,3,4 2:int64:0:4
def f(x, cols):
    b = torch.tensor(1)
    return x[b, :, cols]

# %% [0] slices, steps and negative bounds
# in: 4,6 ; grad
def f(x):
    return x[1:, ::2] + x[:-1, 1::2]

# %% [0] boolean mask reads
# in: 4,6
def f(x):
    return x[x > 0], x[x[:, 0] > 0]

# %% [0] boolean mask writes
# in: 4,6
def f(x):
    y = x.clone()
    y[y < 0] = 0
    y[y > 1] *= 0.5
    return y

# %% [0] gather and scatter of a label
# in: 4,6 4:int64:0:6
def f(x, y):
    one_hot = torch.zeros_like(x).scatter_(1, y.unsqueeze(1), 1.0)
    return x.gather(1, y.view(-1, 1)), one_hot, x[torch.arange(4), y]

# %% [0] scatter_add and index_add
# in: 4,6 4:int64:0:3
def f(x, idx):
    out = torch.zeros(3, 6).index_add_(0, idx, x)
    out2 = torch.zeros(3, 6).scatter_add(0, idx[:, None].expand(-1, 6), x)
    return out, out2

# %% [25] range and labels as indices
# in: 4,6 4:int64:0:6
def f(x, y):
    return x[range(4), y]

# %% [25] range of len and a list of labels
# in: 4,6
def f(x):
    y = [1, 3, 0, 5]
    return x[range(len(y)), y]

# %% [25] a numpy mask as an index
def run():
    x = data(4, 3)
    keep = np.array([True, False, True, True])
    return x[keep]

# %% [25] a numpy index array, read and write
def run():
    x = data(4, 3)
    rows = np.array([2, 0])
    y = x.clone()
    y[rows] = 0.0
    return x[rows], y, x[rows, np.array([1, 2])]

# %% [25] a numpy permutation of the batch
def run():
    x = data(6, 3)
    order = np.random.RandomState(3).permutation(6)
    return x[order], x[order[:2]]

# %% [25] np.where results as indices
def run():
    x = data(4, 3)
    rows = np.where(np.array([1, 0, 1, 0]) > 0)[0]
    return x[rows]

# %% [25] a range with a step as an index
# in: 6,3
def f(x):
    return x[range(0, 6, 2)], x[:, range(2)]

# %% [25] argsort by numpy
def run():
    x = data(5)
    order = np.argsort(-x.numpy())
    return x[order]

# %% [0] a list of booleans as an index
# in: 3,2
def f(x):
    return x[[True, False, True]]

# %% [0] nonzero in both forms
# in: 4,3
def f(x):
    i, j = (x > 0).nonzero(as_tuple=True)
    return (x > 0).nonzero(), i, j, torch.where(x > 0)[0]

# %% [0] masked_select, masked_fill, where
# in: 4,3 4,3:bool
def f(x, mask):
    return x.masked_select(mask), x.masked_fill(mask, -1e9), torch.where(mask, x, x * 2)

# %% [0] take_along_dim, index_select, narrow, select
# in: 4,5
def f(x):
    order = x.argsort(dim=1)
    return x.take_along_dim(order, 1), x.index_select(1, torch.tensor([0, 2])), x.narrow(1, 1, 2), x.select(0, 1)

# %% [0] topk and sort with names
# in: 4,5
def f(x):
    top = x.topk(2, dim=1)
    s = torch.sort(x, dim=1, descending=True)
    return top.values, top.indices, s.values, s.indices, s[0]

# %% [0] max and min with a dimension
# in: 4,5
def f(x):
    m = x.max(dim=1)
    values, indices = x.min(1)
    return m.values, m.indices, m[1], values, indices, x.max(), x.argmin(0)

# %% [0] negative steps by flip, roll, rot90
# in: 3,4
def f(x):
    return x.flip(0), torch.flip(x, [0, 1]), x.roll(1, 0), torch.rot90(x, 1, [0, 1])

# %% [0] unfold of a sequence
# in: 2,8
def f(x):
    return x.unfold(1, 4, 2)

# %% [0] index_put_ and index_fill_
# in: 4,3
def f(x):
    y = x.clone()
    y.index_put_((torch.tensor([0, 2]), torch.tensor([1, 1])), torch.tensor([5.0, 6.0]))
    z = x.clone().index_fill_(0, torch.tensor([1]), -1.0)
    return y, z

# %% [9] two integers around an index tensor
# in: 3,4,5,2 3:int64:0:4
def f(x, idx):
    return x[0, idx, :, 1], x[0, idx, 1], x[:, idx, 1]

# %% [9] a masked write of one channel
# in: 2,3,4,4 4,4:bool
def f(x, mask):
    x = x.clone()
    x[0, 1, mask] = 9.0
    x[1, :, mask] = 0.0
    return x

# %% [0] meshgrid in both orders
def run():
    a, b = torch.arange(3), torch.arange(4)
    g = torch.meshgrid(a, b, indexing="ij")
    h = torch.meshgrid(a, b, indexing="xy")
    return g[0], g[1], h[0], h[1]

# %% [0] tril, triu masks
# in: 4,4
def f(x):
    mask = torch.triu(torch.ones(4, 4), diagonal=1).bool()
    return x.masked_fill(mask, float("-inf")).softmax(-1), torch.tril(x), x.tril(-1)

# %% [0] bincount, unique, histc
def run():
    y = labels(12, 4)
    u, inv, cnt = torch.unique(y, return_inverse=True, return_counts=True)
    return torch.bincount(y), torch.bincount(y, minlength=6), u, inv, cnt

# %% [0] searchsorted and bucketize
def run():
    edges = torch.tensor([0.0, 1.0, 2.0])
    x = torch.tensor([-1.0, 0.0, 0.5, 2.0, 3.0])
    return torch.searchsorted(edges, x), torch.bucketize(x, edges), torch.bucketize(x, edges, right=True)

# %% [0] assignment of a row and a column
# in: 3,4
def f(x):
    y = x.clone()
    y[0] = 1.0
    y[:, -1] = torch.tensor([7.0, 8.0, 9.0])
    y[1, 2] = y[0, 0] + 1
    return y

# %% [0] assignment with a step
# in: 4,6
def f(x):
    pe = torch.zeros(4, 6)
    pe[:, 0::2] = torch.sin(x[:, 0::2])
    pe[:, 1::2] = torch.cos(x[:, 1::2])
    return pe

# %% [0] iteration over a tensor
# in: 3,4
def f(x):
    total = 0
    for row in x:
        total = total + row.sum()
    for i, (a, b) in enumerate(zip(x, x * 2)):
        total = total + (a * b).sum() * i
    return total

# %% [9] elements picked by elements of index tensors
# in: 4,4 3:int64:0:4; grad
def f(x, tags):
    score = x[tags[0], tags[1]] + x[1, tags[2]] + x[tags[1]][0]
    for t in tags:
        score = score + x[t, 0] * 2
    return score + x[tags, 0].sum() + x[tags[0], 2:].mean()

# %% [9] a path scored by transitions
class Scores(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.trans = nn.Parameter(torch.zeros(n, n))

    def forward(self, feats, tags):
        score = torch.zeros(1)
        for i, feat in enumerate(feats):
            score = score + self.trans[tags[i + 1], tags[i]] + feat[tags[i + 1]]
        return score + self.trans[1, tags[-1]]

def run():
    m = fill(Scores())
    loss = m(data(3, 3), torch.tensor([0, 2, 1, 2]))
    loss.backward()
    return loss, m.trans.grad

# %% [9] an integer, an ellipsis and an index tensor, written to
# in: 2,3,4,5 2:int64:0:5
def f(x, i):
    x = x * 1.0
    a = x[1, ..., i] * 2
    x[1, ..., i] = 0
    x[0, ..., i] += 1
    x[:, 1, i % 4] = a.sum()
    return x, a
