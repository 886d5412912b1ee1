# %% [0] topk accuracy as in the ImageNet example
def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        batch_size = target.size(0)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        res = []
        for k in topk:
            correct_k = correct[:k].reshape(-1).float().sum(0, keepdim=True)
            res.append(correct_k.mul_(100.0 / batch_size))
        return res

class AverageMeter(object):
    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        fmtstr = "{name} {val" + self.fmt + "} ({avg" + self.fmt + "})"
        return fmtstr.format(**self.__dict__)

def run():
    m1, m5 = AverageMeter("Acc@1", ":6.2f"), AverageMeter("Acc@5", ":6.2f")
    for k in range(3):
        a1, a5 = accuracy(data(8, 10, seed=k), labels(8, 10, seed=k), topk=(1, 5))
        m1.update(a1[0], 8)
        m5.update(a5[0], 8)
    print("\t".join(str(m) for m in (m1, m5)))
    return m1.avg, m5.avg.item()

# %% [0] a confusion matrix by bincount
class ConfusionMatrix:
    def __init__(self, n):
        self.n = n
        self.mat = None

    def update(self, a, b):
        n = self.n
        if self.mat is None:
            self.mat = torch.zeros((n, n), dtype=torch.int64)
        k = (a >= 0) & (a < n)
        inds = n * a[k].to(torch.int64) + b[k]
        self.mat += torch.bincount(inds, minlength=n**2).reshape(n, n)

    def compute(self):
        h = self.mat.float()
        acc_global = torch.diag(h).sum() / h.sum()
        acc = torch.diag(h) / h.sum(1)
        iu = torch.diag(h) / (h.sum(1) + h.sum(0) - torch.diag(h))
        return acc_global, acc, iu

    def __str__(self):
        g, a, iu = self.compute()
        return "global: {:.1f}\nrow: {}\nIoU: {}\nmean: {:.1f}".format(
            g.item() * 100, [f"{i:.1f}" for i in (a * 100).tolist()],
            [f"{i:.1f}" for i in (iu * 100).tolist()], iu.mean().item() * 100)

def run():
    c = ConfusionMatrix(3)
    for k in range(2):
        c.update(labels(30, 3, seed=k), labels(30, 3, seed=k + 5))
    print(c)
    return c.mat, c.compute()

# %% [0] mean IoU by loops
def iou(pred, target, n_classes=3):
    ious = []
    pred, target = pred.view(-1), target.view(-1)
    for cls in range(n_classes):
        pred_inds = pred == cls
        target_inds = target == cls
        intersection = (pred_inds[target_inds]).long().sum().item()
        union = pred_inds.long().sum().item() + target_inds.long().sum().item() - intersection
        ious.append(float("nan") if union == 0 else float(intersection) / max(union, 1))
    return np.array(ious)

def run():
    return iou(labels((2, 4, 4), 3), labels((2, 4, 4), 3, seed=9))

# %% [0] IoU with bit operators
SMOOTH = 1e-6

# in: 2,1,4,4:uint8:0:2 2,1,4,4:uint8:0:2
def f(outputs, labels):
    outputs = outputs.squeeze(1)
    labels = labels.squeeze(1)
    intersection = (outputs & labels).float().sum((1, 2))
    union = (outputs | labels).float().sum((1, 2))
    iou = (intersection + SMOOTH) / (union + SMOOTH)
    return iou, torch.clamp(20 * (iou - 0.5), 0, 10).ceil() / 10

# %% [0] dice over one-hot masks
# in: 2,3,4,4 2,4,4:int64:0:3; grad
def f(logits, target):
    probs = F.softmax(logits, dim=1)
    onehot = F.one_hot(target, num_classes=3).permute(0, 3, 1, 2).float()
    dims = (0, 2, 3)
    inter = torch.sum(probs * onehot, dims)
    card = torch.sum(probs + onehot, dims)
    return 1 - (2.0 * inter / (card + 1e-7)).mean()

# %% [0] precision and recall per class
# in: 20:int64:0:4 20:int64:0:4
def f(pred, y):
    n = 4
    p = F.one_hot(pred, n).bool()
    t = F.one_hot(y, n).bool()
    tp = (p & t).sum(0)
    fp = (p & ~t).sum(0)
    fn = (~p & t).sum(0)
    return tp, fp, fn, tp / (tp + fp).clamp(min=1), tp / (tp + fn).clamp(min=1)

# %% [0] AUC by sorting
def auc(scores, y):
    order = torch.argsort(scores, descending=True)
    y = y[order]
    tps = torch.cumsum(y, 0)
    fps = torch.cumsum(1 - y, 0)
    tpr = tps / tps[-1]
    fpr = fps / fps[-1]
    return torch.trapz(tpr, fpr)

def run():
    return auc(data(30), labels(30, 2))

# %% [0] average precision and ranks
# in: 4,6 4,6:int64:0:2
def f(scores, rel):
    idx = scores.argsort(dim=-1, descending=True)
    rel = rel.gather(-1, idx)
    hits = rel.cumsum(-1)
    rank = torch.arange(1, rel.shape[-1] + 1)
    ap = (hits / rank * rel).sum(-1) / rel.sum(-1).clamp(min=1)
    dcg = (rel / torch.log2(rank + 1.0)).sum(-1)
    return ap, dcg, hits

# %% [0] recall at k of retrieval
# in: 5,8 5,8
def f(q, g):
    sim = F.normalize(q, dim=-1) @ F.normalize(g, dim=-1).t()
    gt = torch.arange(sim.size(0)).view(-1, 1)
    out = []
    for k in (1, 3):
        top = sim.topk(k, dim=1).indices
        out.append((top == gt).any(dim=1).float().mean())
    return out

# %% [0] per class accuracy in dictionaries
def run():
    classes = ("plane", "car", "bird")
    correct_pred = {c: 0 for c in classes}
    total_pred = {c: 0 for c in classes}
    out, y = data(12, 3), labels(12, 3)
    _, predictions = torch.max(out, 1)
    for label, prediction in zip(y, predictions):
        if label == prediction:
            correct_pred[classes[label]] += 1
        total_pred[classes[label]] += 1
    for c, n in correct_pred.items():
        print(f"Accuracy for class: {c:5s} is {100 * float(n) / max(total_pred[c], 1):.1f} %")
    return correct_pred, total_pred

# %% [0] class weights from counts
def run():
    y = labels(40, 4)
    counts = torch.bincount(y, minlength=4)
    w = counts.sum() / (len(counts) * counts.float())
    inv = 1.0 / counts
    return w, inv, F.cross_entropy(data(40, 4), y, weight=w), inv[y], counts.max() / counts

# %% [0] expected calibration error
# in: 30,4 30:int64:0:4
def f(logits, y):
    conf, pred = F.softmax(logits, 1).max(1)
    acc = pred.eq(y)
    bounds = torch.linspace(0, 1, 6)
    ece = torch.zeros(1)
    for lo, hi in zip(bounds[:-1], bounds[1:]):
        in_bin = conf.gt(lo.item()) * conf.le(hi.item())
        prop = in_bin.float().mean()
        if prop.item() > 0:
            ece += torch.abs(conf[in_bin].mean() - acc[in_bin].float().mean()) * prop
    return ece

# %% [0] perplexity and bits
def run():
    losses = [data(1, seed=k).abs().mean() for k in range(3)]
    mean = torch.stack(losses).mean()
    ppl = torch.exp(mean)
    print("ppl %.3f bpc %.3f" % (ppl, mean / np.log(2)))
    print("| loss {:5.2f} | ppl {:8.2f}".format(mean, ppl))
    return ppl, mean.item() / np.log(2)

# %% [0] psnr and ssim pieces
# in: 2,3,8,8 2,3,8,8
def f(a, b):
    a, b = torch.sigmoid(a), torch.sigmoid(b)
    mse = torch.mean((a - b) ** 2, dim=(1, 2, 3))
    mu = F.avg_pool2d(a, 3, 1)
    var = F.avg_pool2d(a * a, 3, 1) - mu.pow(2)
    return 10 * torch.log10(1.0 / mse), mu, var, -10.0 * mse.log10()

# %% [0] edit distance with tensors
def run():
    a, b = [1, 2, 3, 4], [2, 3, 5]
    d = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.int)
    d[:, 0] = torch.arange(len(a) + 1)
    d[0, :] = torch.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = int(a[i - 1] != b[j - 1])
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d, d[-1, -1].item()

# %% [0] r squared, correlation and covariance
# in: 20 20
def f(x, y):
    vx, vy = x - x.mean(), y - y.mean()
    corr = (vx * vy).sum() / (torch.sqrt((vx ** 2).sum()) * torch.sqrt((vy ** 2).sum()))
    r2 = 1 - ((y - x) ** 2).sum() / (vy ** 2).sum()
    return corr, r2, torch.corrcoef(torch.stack([x, y])), torch.cov(torch.stack([x, y])), x.std(), x.var(unbiased=False)

# %% [0] mean and std over a loader by hand
def run():
    mean = torch.zeros(3)
    std = torch.zeros(3)
    n = 0
    for k in range(2):
        images = data(4, 3, 5, 5, seed=k)
        images = images.view(images.size(0), images.size(1), -1)
        mean += images.mean(2).sum(0)
        std += images.std(2).sum(0)
        n += images.size(0)
    mean /= n
    std /= n
    print(f"mean: {mean.tolist()}")
    return mean, std

# %% [0] a smoothed value in a deque
from collections import deque, defaultdict

class SmoothedValue:
    def __init__(self, window_size=3, fmt="{median:.4f} ({global_avg:.4f})"):
        self.deque = deque(maxlen=window_size)
        self.total, self.count, self.fmt = 0.0, 0, fmt

    def update(self, value, n=1):
        self.deque.append(value)
        self.count += n
        self.total += value * n

    @property
    def median(self):
        return torch.tensor(list(self.deque)).median().item()

    @property
    def avg(self):
        return torch.tensor(list(self.deque), dtype=torch.float32).mean().item()

    @property
    def global_avg(self):
        return self.total / self.count

    def __str__(self):
        return self.fmt.format(median=self.median, avg=self.avg, global_avg=self.global_avg)

class MetricLogger:
    def __init__(self):
        self.meters = defaultdict(SmoothedValue)

    def update(self, **kwargs):
        for k, v in kwargs.items():
            if isinstance(v, torch.Tensor):
                v = v.item()
            assert isinstance(v, (float, int))
            self.meters[k].update(v)

    def __str__(self):
        return "  ".join(f"{n}: {m}" for n, m in self.meters.items())

def run():
    log = MetricLogger()
    for k in range(4):
        log.update(loss=data(3, seed=k).pow(2).mean(), acc=k)
    print(log)
    return str(log), log.meters["loss"].avg
