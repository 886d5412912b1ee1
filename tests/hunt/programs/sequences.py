# %% [0] a vocabulary and padding
from collections import Counter

def run():
    texts = ["the cat sat", "the dog", "a cat"]
    counter = Counter(w for t in texts for w in t.split())
    vocab = {"<pad>": 0, "<unk>": 1}
    for w, c in sorted(counter.items()):
        vocab[w] = len(vocab)
    ids = [[vocab.get(w, 1) for w in t.split()] for t in texts]
    longest = max(map(len, ids))
    padded = torch.LongTensor([i + [0] * (longest - len(i)) for i in ids])
    mask = (padded != 0)
    lengths = mask.sum(1)
    return padded, mask, lengths, padded.masked_fill(~mask, -100), mask.unsqueeze(1).unsqueeze(2).shape

# %% [0] pad_sequence and masks
from torch.nn.utils.rnn import pad_sequence

def run():
    seqs = [torch.tensor([1, 2, 3]), torch.tensor([4]), torch.tensor([5, 6])]
    p = pad_sequence(seqs, batch_first=True, padding_value=-1)
    lens = torch.tensor([len(s) for s in seqs])
    mask = torch.arange(p.size(1))[None, :] < lens[:, None]
    return p, pad_sequence(seqs), mask, p * mask, p[mask], lens.max().item()

# %% [0] scaled dot product attention by hand
# in: 2,4,6 2,4,6; grad
def f(q, k):
    scores = torch.bmm(q, k.transpose(1, 2)) / np.sqrt(q.size(-1))
    mask = torch.triu(torch.ones(4, 4), diagonal=1).bool()
    scores = scores.masked_fill(mask, float("-inf"))
    return torch.bmm(F.softmax(scores, dim=-1), k)

# %% [0] attention by einsum with heads
# in: 2,5,8; grad
def f(x):
    b, n, d = x.shape
    h = 2
    q = k = v = x.view(b, n, h, d // h).permute(0, 2, 1, 3)
    att = torch.einsum("bhid,bhjd->bhij", q, k) * (d // h) ** -0.5
    att = att - att.amax(dim=-1, keepdim=True).detach()
    att = att.softmax(dim=-1)
    out = torch.einsum("bhij,bhjd->bhid", att, v)
    return out.transpose(1, 2).reshape(b, n, d)

# %% [0] sinusoidal positions
import math

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=50):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]

def run():
    return PositionalEncoding(6)(data(2, 5, 6))

# %% [0] rotary embedding
# in: 1,4,2,8; grad
def f(x):
    dim = x.shape[-1]
    inv = 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim))
    t = torch.arange(x.shape[1])
    freqs = torch.outer(t, inv)
    emb = torch.cat((freqs, freqs), dim=-1)[None, :, None, :]
    x1, x2 = x[..., : dim // 2], x[..., dim // 2 :]
    return x * emb.cos() + torch.cat((-x2, x1), dim=-1) * emb.sin()

# %% [0] rotary embedding by complex numbers
def run():
    x = data(1, 4, 2, 8)
    freqs = 1.0 / (10000.0 ** (torch.arange(0, 8, 2)[:4].float() / 8))
    f = torch.outer(torch.arange(4), freqs).float()
    cis = torch.polar(torch.ones_like(f), f)
    xc = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(xc * cis.view(1, 4, 1, 4)).flatten(3)

# %% [0] greedy decoding
def run():
    emb, out = fill(nn.Embedding(7, 4)), fill(nn.Linear(4, 7), 3)
    ids = torch.tensor([[1], [2]])
    for _ in range(4):
        logits = out(emb(ids[:, -1]))
        nxt = logits.argmax(-1, keepdim=True)
        ids = torch.cat([ids, nxt], dim=1)
        if (nxt == 0).all():
            break
    return ids, ids.tolist()

# %% [0] beam search
def run():
    torch.manual_seed(0)
    table = F.log_softmax(data(5, 5), dim=-1)
    k, steps = 2, 3
    seqs = torch.zeros(1, 1, dtype=torch.long)
    scores = torch.zeros(1)
    for _ in range(steps):
        logp = table[seqs[:, -1]]
        total = scores.unsqueeze(1) + logp
        scores, flat = total.view(-1).topk(k)
        prev = flat // logp.size(1)
        nxt = flat % logp.size(1)
        seqs = torch.cat([seqs[prev], nxt.unsqueeze(1)], dim=1)
    best = scores.argmax()
    return seqs, scores, seqs[best].tolist()

# %% [0] top-k and top-p filtering
# in: 2,8
def f(logits):
    kth = torch.topk(logits, 5)[0][..., -1, None]
    logits = logits.masked_fill(logits < kth, -float("inf"))
    s, idx = torch.sort(logits, descending=True)
    cum = torch.cumsum(F.softmax(s, dim=-1), dim=-1)
    remove = cum > 0.8
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = 0
    mask = remove.scatter(1, idx, remove)
    return logits.masked_fill(mask, float("-inf"))

# %% [0] a length mask and a masked mean
# in: 3,4,2 3:int64:1:5; grad
def f(x, lengths):
    mask = (torch.arange(x.size(1)).unsqueeze(0) < lengths.unsqueeze(1)).float().unsqueeze(-1)
    mean = (x * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
    m = x.masked_fill(mask == 0, -1e9).max(dim=1)[0]
    return mean + m

# %% [0] teacher forcing with random numbers
import random

def run():
    random.seed(1)
    cell = fill(nn.GRUCell(3, 3))
    h, x = torch.zeros(2, 3), data(2, 3)
    outs = []
    for t in range(4):
        h = cell(x, h)
        outs.append(h)
        x = h.detach() if random.random() < 0.5 else torch.ones_like(h) * t
    return torch.stack(outs, 1)

# %% [0] word dropout and special tokens
def run():
    ids = torch.tensor([[2, 5, 6, 3], [2, 7, 3, 0]])
    special = (ids == 0) | (ids == 2) | (ids == 3)
    prob = torch.full(ids.shape, 1.0)
    prob.masked_fill_(special, value=0.0)
    masked = torch.bernoulli(prob).bool()
    lab = ids.clone()
    lab[~masked] = -100
    ids[masked] = 1
    return ids, lab, masked.sum(), special.float().mean()

# %% [0] CTC style collapse
def run():
    path = torch.tensor([0, 1, 1, 0, 2, 2, 2, 0, 1])
    keep = torch.cat([torch.tensor([True]), path[1:] != path[:-1]]) & (path != 0)
    return path[keep], torch.unique_consecutive(path), "".join("-ab"[i] for i in path)

# %% [0] relative position buckets
# in: 4:int64:0:3
def f(_):
    ctx = torch.arange(4)[:, None]
    mem = torch.arange(4)[None, :]
    rel = mem - ctx
    n, md = 8, 16
    ret = (rel > 0).to(torch.long) * n
    rel = torch.abs(rel)
    exact = n // 2
    small = rel < exact
    large = exact + (torch.log(rel.float() / exact + 1e-6) / math.log(md / exact) * (n - exact)).to(torch.long)
    large = torch.min(large, torch.full_like(large, n - 1))
    return ret + torch.where(small, rel, large)

import math

# %% [0] shifting tokens right
# in: 2,4:int64:0:5
def f(ids):
    out = ids.new_zeros(ids.shape)
    out[:, 1:] = ids[:, :-1].clone()
    out[:, 0] = 2
    out.masked_fill_(out == -100, 1)
    return out, torch.roll(ids, 1, dims=1), F.pad(ids, (1, 0), value=9)[:, :-1]

# %% [0] token type ids and segments
def run():
    sep = torch.tensor([[1, 0, 1, 0], [0, 1, 0, 1]])
    seg = torch.cumsum(sep, dim=1) - sep
    return seg, seg.dtype, nn.Embedding(3, 2)(seg).shape, sep.nonzero()[:, 1], sep.argmax(1)

# %% [0] a mel filter bank by hand
def run():
    sr, n_fft, n_mels = 16000, 64, 4
    freqs = torch.linspace(0, sr / 2, n_fft // 2 + 1)
    m = torch.linspace(0, 2595 * math.log10(1 + sr / 2 / 700), n_mels + 2)
    hz = 700 * (10 ** (m / 2595) - 1)
    slopes = hz.unsqueeze(0) - freqs.unsqueeze(1)
    diff = hz[1:] - hz[:-1]
    down = (-1.0 * slopes[:, :-2]) / diff[:-1]
    up = slopes[:, 2:] / diff[1:]
    fb = torch.max(torch.zeros(1), torch.min(down, up))
    spec = data(33, 5).abs()
    return torch.log(fb.t() @ spec + 1e-6), 20 * torch.log10(torch.clamp(spec, min=1e-5))

import math
