# %% [1] an EMA class with a shadow dict and apply and restore
class EMA:
    def __init__(self, model, decay):
        self.model = model
        self.decay = decay
        self.shadow = {}
        self.backup = {}

    def register(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data.clone()

    def update(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                assert name in self.shadow
                new_average = (1.0 - self.decay) * param.data + self.decay * self.shadow[name]
                self.shadow[name] = new_average.clone()

    def apply_shadow(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.backup[name] = param.data
                param.data = self.shadow[name]

    def restore(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                param.data = self.backup[name]
        self.backup = {}

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    ema = EMA(m, 0.9)
    ema.register()
    seen = []
    for i in range(3):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
        ema.update()
    ema.apply_shadow()
    seen.append(m(data(2, 3)).detach().clone())
    ema.restore()
    seen.append(m(data(2, 3)).detach())
    opt.zero_grad()
    m(data(4, 3)).pow(2).mean().backward()
    opt.step()
    return seen, m, ema.shadow

# %% [1] ModelEMA in the style of timm
import copy

class ModelEma(nn.Module):
    def __init__(self, model, decay=0.99):
        super().__init__()
        self.module = copy.deepcopy(model)
        self.module.eval()
        self.decay = decay

    def _update(self, model, update_fn):
        with torch.no_grad():
            for ema_v, model_v in zip(self.module.state_dict().values(), model.state_dict().values()):
                ema_v.copy_(update_fn(ema_v, model_v))

    def update(self, model):
        self._update(model, update_fn=lambda e, m: self.decay * e + (1. - self.decay) * m)

    def set(self, model):
        self._update(model, update_fn=lambda e, m: m)

def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    ema = ModelEma(m, 0.5)
    for i in range(3):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
        ema.update(m)
    return ema.module(data(2, 3)), ema.module.training, [k for k in ema.state_dict()][:2], m

# %% [17] MoCo with a queue and a momentum encoder
class MoCo(nn.Module):
    def __init__(self, base, dim=2, K=8, m=0.9, T=0.2):
        super().__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q = base()
        self.encoder_k = base()
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data.copy_(param_q.data)
            param_k.requires_grad = False
        self.register_buffer("queue", torch.linspace(-1, 1, dim * K).view(dim, K))
        self.queue = nn.functional.normalize(self.queue, dim=0)
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update_key_encoder(self):
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data = param_k.data * self.m + param_q.data * (1. - self.m)

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        batch_size = keys.shape[0]
        ptr = int(self.queue_ptr)
        assert self.K % batch_size == 0
        self.queue[:, ptr:ptr + batch_size] = keys.T
        ptr = (ptr + batch_size) % self.K
        self.queue_ptr[0] = ptr

    def forward(self, im_q, im_k):
        q = nn.functional.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._momentum_update_key_encoder()
            k = nn.functional.normalize(self.encoder_k(im_k), dim=1)
        l_pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1)
        logits /= self.T
        targets = torch.zeros(logits.shape[0], dtype=torch.long)
        self._dequeue_and_enqueue(k)
        return logits, targets

def run():
    torch.manual_seed(0)
    model = MoCo(lambda: nn.Linear(3, 2))
    fill(model.encoder_q)
    fill(model.encoder_k)
    opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-2)
    log = []
    for i in range(3):
        output, target = model(im_q=data(4, 3, seed=i), im_k=data(4, 3, seed=10 + i))
        loss = F.cross_entropy(output, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, model.queue, model.queue_ptr, [n for n, _ in model.named_parameters()], sorted(model.state_dict())

# %% [17] a VQ codebook kept by exponential averages
class VectorQuantizerEMA(nn.Module):
    def __init__(self, num_embeddings=4, embedding_dim=2, decay=0.9, epsilon=1e-5):
        super().__init__()
        self._embedding_dim, self._num_embeddings = embedding_dim, num_embeddings
        self._embedding = nn.Embedding(num_embeddings, embedding_dim)
        self._embedding.weight.data.normal_()
        self.register_buffer("_ema_cluster_size", torch.zeros(num_embeddings))
        self._ema_w = nn.Parameter(torch.Tensor(num_embeddings, embedding_dim))
        self._ema_w.data.normal_()
        self._decay, self._epsilon = decay, epsilon

    def forward(self, inputs):
        flat_input = inputs.view(-1, self._embedding_dim)
        distances = (torch.sum(flat_input ** 2, dim=1, keepdim=True) + torch.sum(self._embedding.weight ** 2, dim=1)
                     - 2 * torch.matmul(flat_input, self._embedding.weight.t()))
        encoding_indices = torch.argmin(distances, dim=1).unsqueeze(1)
        encodings = torch.zeros(encoding_indices.shape[0], self._num_embeddings)
        encodings.scatter_(1, encoding_indices, 1)
        quantized = torch.matmul(encodings, self._embedding.weight).view(inputs.shape)
        if self.training:
            self._ema_cluster_size = self._ema_cluster_size * self._decay + (1 - self._decay) * torch.sum(encodings, 0)
            n = torch.sum(self._ema_cluster_size.data)
            self._ema_cluster_size = ((self._ema_cluster_size + self._epsilon) / (n + self._num_embeddings * self._epsilon) * n)
            dw = torch.matmul(encodings.t(), flat_input)
            self._ema_w = nn.Parameter(self._ema_w * self._decay + (1 - self._decay) * dw)
            self._embedding.weight = nn.Parameter(self._ema_w / self._ema_cluster_size.unsqueeze(1))
        e_latent_loss = F.mse_loss(quantized.detach(), inputs)
        loss = 0.25 * e_latent_loss
        quantized = inputs + (quantized - inputs).detach()
        avg_probs = torch.mean(encodings, dim=0)
        perplexity = torch.exp(-torch.sum(avg_probs * torch.log(avg_probs + 1e-10)))
        return loss, quantized, perplexity

def run():
    vq = fill(VectorQuantizerEMA())
    out = []
    for i in range(2):
        loss, q, perplexity = vq(data(6, 2, seed=i))
        out.append((loss.item(), q, perplexity.item()))
    vq.eval()
    return out, vq._ema_cluster_size, vq._embedding.weight.detach(), vq(data(3, 2))[1]

# %% [17] a VQ codebook whose buffers are changed in place while training
class Codebook(nn.Module):
    def __init__(self, n=4, d=2, decay=0.8):
        super().__init__()
        self.decay = decay
        embed = torch.linspace(-1, 1, n * d).view(d, n)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.zeros(n))
        self.register_buffer("embed_avg", embed.clone())
        self.n = n

    def forward(self, input):
        flatten = input.reshape(-1, 2)
        dist = flatten.pow(2).sum(1, keepdim=True) - 2 * flatten @ self.embed + self.embed.pow(2).sum(0, keepdim=True)
        _, embed_ind = (-dist).max(1)
        embed_onehot = F.one_hot(embed_ind, self.n).type(flatten.dtype)
        quantize = F.embedding(embed_ind, self.embed.transpose(0, 1))
        if self.training:
            onehot_sum = embed_onehot.sum(0)
            embed_sum = flatten.transpose(0, 1) @ embed_onehot
            self.cluster_size.data.mul_(self.decay).add_(onehot_sum, alpha=1 - self.decay)
            self.embed_avg.data.mul_(self.decay).add_(embed_sum, alpha=1 - self.decay)
            n = self.cluster_size.sum()
            cluster_size = (self.cluster_size + 1e-5) / (n + self.n * 1e-5) * n
            embed_normalized = self.embed_avg / cluster_size.unsqueeze(0)
            self.embed.data.copy_(embed_normalized)
        diff = (quantize.detach() - input).pow(2).mean()
        quantize = input + (quantize - input).detach()
        return quantize, diff, embed_ind

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.vq, self.dec = nn.Linear(3, 2), Codebook(), nn.Linear(2, 3)

    def forward(self, x):
        q, diff, _ = self.vq(self.enc(x))
        return self.dec(q), diff

def run():
    net = fill(Net())
    opt = torch.optim.Adam(net.parameters(), lr=0.02)
    log = []
    for i in range(3):
        x = data(5, 3, seed=i)
        net.zero_grad()
        out, latent = net(x)
        recon = F.mse_loss(out, x)
        loss = recon + 0.25 * latent.mean()
        loss.backward()
        opt.step()
        log.append((recon.item(), latent.item()))
    return log, net.vq.embed, net.vq.cluster_size, len(list(net.parameters()))

# %% [1] a soft update in a function of two networks
def soft_update(target, source, tau):
    for target_param, param in zip(target.parameters(), source.parameters()):
        target_param.data.copy_(target_param.data * (1.0 - tau) + param.data * tau)

def hard_update(target, source):
    for target_param, param in zip(target.parameters(), source.parameters()):
        target_param.data.copy_(param.data)

def run():
    critic, target = fill(nn.Linear(3, 1)), nn.Linear(3, 1)
    hard_update(target, critic)
    opt = torch.optim.Adam(critic.parameters(), lr=0.1)
    log = []
    for i in range(3):
        with torch.no_grad():
            y = data(4, 1, seed=8 + i) + 0.9 * target(data(4, 3, seed=4 + i))
        loss = F.mse_loss(critic(data(4, 3, seed=i)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        soft_update(target, critic, 0.1)
        log.append(loss.item())
    return log, critic, target

# %% [1] BYOL with an EMA updater object
import copy

class EMAUpdater():
    def __init__(self, beta):
        self.beta = beta

    def update_average(self, old, new):
        if old is None:
            return new
        return old * self.beta + (1 - self.beta) * new

def update_moving_average(ema_updater, ma_model, current_model):
    for current_params, ma_params in zip(current_model.parameters(), ma_model.parameters()):
        old_weight, up_weight = ma_params.data, current_params.data
        ma_params.data = ema_updater.update_average(old_weight, up_weight)

def loss_fn(x, y):
    x = F.normalize(x, dim=-1, p=2)
    y = F.normalize(y, dim=-1, p=2)
    return 2 - 2 * (x * y).sum(dim=-1)

def run():
    online = fill(nn.Sequential(nn.Linear(3, 4, bias=False), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)))
    predictor = fill(nn.Linear(2, 2), seed=5)
    target = copy.deepcopy(online)
    updater = EMAUpdater(0.9)
    opt = torch.optim.Adam(list(online.parameters()) + list(predictor.parameters()), lr=0.02)
    log = []
    for i in range(3):
        one, two = data(4, 3, seed=i), data(4, 3, seed=30 + i)
        p1, p2 = predictor(online(one)), predictor(online(two))
        with torch.no_grad():
            t1 = target(one).detach_()
            t2 = target(two).detach_()
        loss = (loss_fn(p1, t2) + loss_fn(p2, t1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        update_moving_average(updater, target, online)
        log.append(loss.item())
    return log, target, online

# %% [12] mean teacher by state dicts with a ramped alpha
def update_ema_variables(model, ema_model, alpha, global_step):
    alpha = min(1 - 1 / (global_step + 1), alpha)
    for ema_param, param in zip(ema_model.parameters(), model.parameters()):
        ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)

def create_model(ema=False):
    model = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    if ema:
        for param in model.parameters():
            param.detach_()
    return model

def run():
    student, teacher = create_model(), create_model(ema=True)
    opt = torch.optim.SGD(student.parameters(), 0.1, momentum=0.9, nesterov=True, weight_decay=1e-3)
    log = []
    for step in range(3):
        x, y = data(4, 3, seed=step), labels(4, 2, seed=step)
        logit = student(x)
        ema_logit = teacher(x).detach()
        loss = F.cross_entropy(logit, y) + F.mse_loss(logit.softmax(1), ema_logit.softmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        update_ema_variables(student, teacher, 0.99, step)
        log.append(loss.item())
    return log, teacher

# %% [0] torch.optim.swa_utils
def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    swa = torch.optim.swa_utils.AveragedModel(m)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(3):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).sum().backward()
        opt.step()
        swa.update_parameters(m)
    return [p.detach() for p in swa.module.parameters()], int(swa.n_averaged)

# %% [12] SWA by hand with a counter
import copy

def moving_average(net1, net2, alpha=1.):
    for param1, param2 in zip(net1.parameters(), net2.parameters()):
        param1.data *= (1.0 - alpha)
        param1.data += param2.data * alpha

def run():
    m = fill(nn.Linear(3, 2))
    swa_model, swa_n = copy.deepcopy(m), 0
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(3):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).sum().backward()
        opt.step()
        moving_average(swa_model, m, 1.0 / (swa_n + 1))
        swa_n += 1
    return swa_model, m

# %% [0] weight tying by assignment and its gradient
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(5, 3)
        self.fc = nn.Linear(3, 3)
        self.lm_head = nn.Linear(3, 5, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx, targets=None):
        x = torch.tanh(self.fc(self.wte(idx)))
        logits = self.lm_head(x)
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss

def run():
    m = fill(LM())
    opt = torch.optim.AdamW(m.parameters(), lr=0.05)
    log = []
    for i in range(3):
        idx = labels(6, 5, seed=i).view(2, 3)
        logits, loss = m(idx, idx)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, len(list(m.parameters())), [n for n, _ in m.named_parameters()], m.wte.weight is m.lm_head.weight, bool((m.wte.weight == m.lm_head.weight).all())

# %% [0] generation by a loop with temperature and top k
class Bigram(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 6)

    def forward(self, idx):
        return self.table(idx)

    @torch.no_grad()
    def generate(self, idx, max_new_tokens, temperature=1.0, top_k=None):
        for _ in range(max_new_tokens):
            logits = self(idx)[:, -1, :] / temperature
            if top_k is not None:
                v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                logits[logits < v[:, [-1]]] = -float("Inf")
            probs = F.softmax(logits, dim=-1)
            idx_next = torch.argmax(probs, dim=-1, keepdim=True)
            idx = torch.cat((idx, idx_next), dim=1)
        return idx

def run():
    m = fill(Bigram())
    return m.generate(torch.zeros((2, 1), dtype=torch.long), 5, 0.8, 3)

# %% [12] a deep copy is independent and keeps requires_grad
import copy

def run():
    a = fill(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)))
    a[0].weight.requires_grad = False
    b = copy.deepcopy(a)
    with torch.no_grad():
        a[1].weight.fill_(1.0)
    flags = [p.requires_grad for p in b.parameters()]
    opt = torch.optim.SGD([p for p in b.parameters() if p.requires_grad], lr=0.1)
    b(data(4, 3)).pow(2).mean().backward()
    opt.step()
    return flags, a, b, a[0].weight.grad is None

# %% [12] clones of a layer in a ModuleList
import copy

def clones(module, N):
    "Produce N identical layers."
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])

class Enc(nn.Module):
    def __init__(self, layer, N):
        super().__init__()
        self.layers = clones(layer, N)
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return self.norm(x)

def run():
    m = Enc(fill(nn.Linear(3, 3)), 2)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        (m(data(4, 3, seed=i)) * data(4, 3, seed=9)).sum().backward()
        opt.step()
    return m, [n for n, _ in m.named_parameters()]

# %% [12] surgery on a state dict: renamed, dropped, expanded
def run():
    src = fill(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2)))
    dst = fill(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 4)), seed=8)
    sd = {"module." + k: v for k, v in src.state_dict().items()}
    new = {}
    for k, v in sd.items():
        k = k.replace("module.", "", 1)
        if k.startswith("1.weight"):
            v = torch.cat([v, v], dim=0)
        elif k == "1.bias":
            continue
        new[k] = v
    msg = dst.load_state_dict(new, strict=False)
    return msg.missing_keys, msg.unexpected_keys, dst

# %% [12] only entries of the same shape are loaded
def run():
    src = fill(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2)))
    dst = fill(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 5)), seed=8)
    pretrained, own = src.state_dict(), dst.state_dict()
    pretrained = {k: v for k, v in pretrained.items() if k in own and v.size() == own[k].size()}
    own.update(pretrained)
    dst.load_state_dict(own)
    return sorted(pretrained), dst

# %% [12] a load in the manner of load_my_state_dict
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 2), nn.Linear(2, 1)

    def load_my_state_dict(self, state_dict):
        own_state = self.state_dict()
        for name, param in state_dict.items():
            if name not in own_state:
                continue
            if isinstance(param, nn.Parameter):
                param = param.data
            own_state[name].copy_(param)

def run():
    m = fill(Net())
    m.load_my_state_dict({"a.weight": torch.ones(2, 3), "c.bias": torch.ones(1), "b.bias": torch.full((1,), 2.0)})
    return m, [p.shape for p in m.state_dict().values()]

# %% [12] an interpolated position embedding
def run():
    m = nn.ParameterDict({"pos": nn.Parameter(data(1, 5, 4))})
    pos = m["pos"]
    cls, grid = pos[:, :1], pos[:, 1:]
    grid = grid.reshape(1, 2, 2, 4).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=(3, 3), mode="bilinear", align_corners=False)
    grid = grid.permute(0, 2, 3, 1).flatten(1, 2)
    new = torch.cat([cls, grid], dim=1)
    return new.shape, new

# %% [1] spectral power iteration kept in buffers
class SNLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(o, i))
        self.register_buffer("u", torch.ones(o) / o ** 0.5)

    def compute_weight(self):
        w = self.weight
        with torch.no_grad():
            v = F.normalize(torch.mv(w.t(), self.u), dim=0)
            u = F.normalize(torch.mv(w, v), dim=0)
            if self.training:
                self.u.copy_(u)
        sigma = torch.dot(u, torch.mv(w, v))
        return w / sigma

    def forward(self, x):
        return F.linear(x, self.compute_weight())

def run():
    m = fill(SNLinear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(3):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m.u, m.weight

# %% [17] running mean and var of observations in a normaliser
class RunningNorm(nn.Module):
    def __init__(self, n, momentum=0.1):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("mean", torch.zeros(n))
        self.register_buffer("var", torch.ones(n))
        self.register_buffer("count", torch.tensor(0, dtype=torch.long))

    def forward(self, x):
        if self.training:
            self.mean = (1 - self.momentum) * self.mean + self.momentum * x.mean(0).detach()
            self.var = torch.lerp(self.var, x.var(0, unbiased=False).detach(), self.momentum)
            self.count += 1
        return (x - self.mean) / torch.sqrt(self.var + 1e-5)

def run():
    m = RunningNorm(3)
    outs = [m(data(4, 3, seed=i)) for i in range(3)]
    m.eval()
    return outs, m(data(2, 3)), m.count, m.state_dict()

# %% [17] a memory bank indexed and written by labels
class Memory(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.register_buffer("bank", torch.zeros(n, d))
        self.fc = nn.Linear(3, d)

    def forward(self, x, idx):
        f = F.normalize(self.fc(x), dim=1)
        sim = f @ self.bank.t().clone()
        with torch.no_grad():
            self.bank[idx] = 0.5 * self.bank[idx] + 0.5 * f.detach()
        return sim

def run():
    m = fill(Memory(6, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    out = []
    for i in range(3):
        idx = torch.tensor([i, i + 1, i + 3])
        loss = m(data(3, 3, seed=i), idx).pow(2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out, m.bank

# %% [17] class centres updated by index_add
class CenterLoss(nn.Module):
    def __init__(self, c, d):
        super().__init__()
        self.centers = nn.Parameter(torch.zeros(c, d))

    def forward(self, x, labels):
        batch = self.centers[labels]
        return (x - batch).pow(2).sum() / 2.0 / x.size(0)

def run():
    net, center = fill(nn.Linear(3, 2)), fill(CenterLoss(3, 2), seed=4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt_c = torch.optim.SGD(center.parameters(), lr=0.5)
    for i in range(3):
        y = labels(4, 3, seed=i)
        loss = 0.1 * center(net(data(4, 3, seed=i)), y)
        opt.zero_grad()
        opt_c.zero_grad()
        loss.backward()
        opt.step()
        for param in center.parameters():
            param.grad.data *= (1. / 0.1)
        opt_c.step()
    return net, center

# %% [0] two training loops with one optimizer
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    log = []
    for i in range(2):
        loss = m(data(4, 3, seed=i)).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    for i in range(2):
        loss = m(data(4, 3, seed=10 + i)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    opt.zero_grad()
    final = m(data(4, 3)).pow(2).sum()
    final.backward()
    opt.step()
    return log, final.item(), m

# %% [0] a step before the loop, and one behind it
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    loss = m(data(4, 3)).pow(2).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
    for i in range(2):
        loss = m(data(4, 3, seed=i)).abs().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
    loss = m(data(4, 3, seed=8)).pow(2).mean()
    loss.backward()
    opt.step()
    return loss.item(), m

# %% [0] a frozen copy by detach_ of its parameters
import copy

def run():
    m = fill(nn.Linear(3, 2))
    frozen = copy.deepcopy(m)
    for p in frozen.parameters():
        p.detach_()
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    loss = (m(data(4, 3)) - frozen(data(4, 3, seed=3))).pow(2).mean()
    loss.backward()
    opt.step()
    return [p.requires_grad for p in frozen.parameters()], m, loss.item()

# %% [1] an average of the weights by a dict of named parameters
@torch.no_grad()
def accumulate(ema_model, model, decay=0.9):
    ema_params = dict(ema_model.named_parameters())
    for name, param in model.named_parameters():
        ema_params[name].mul_(decay).add_(param.data, alpha=1 - decay)
    ema_buffers = dict(ema_model.named_buffers())
    for name, buffer in model.named_buffers():
        ema_buffers[name].copy_(buffer)


def run():
    model = fill(nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Linear(5, 2)), 1)
    ema = fill(nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Linear(5, 2)), 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(2):
        loss = F.cross_entropy(model(data(6, 4, seed=i)), labels(6, 2, seed=i))
        opt.zero_grad()
        loss.backward()
        opt.step()
        accumulate(ema, model)
    return ema[0].weight.detach(), ema[1].running_mean, ema[2].bias.detach()

# %% [1] an average of the weights by ordered dicts
from collections import OrderedDict


@torch.no_grad()
def update_ema(ema_model, model, decay=0.9):
    ema_params = OrderedDict(ema_model.named_parameters())
    model_params = OrderedDict(model.named_parameters())
    for name, param in model_params.items():
        ema_params[name].mul_(decay).add_(param.data, alpha=1 - decay)


def run():
    model, ema = fill(nn.Linear(4, 2), 1), fill(nn.Linear(4, 2), 2)
    update_ema(ema, model)
    update_ema(ema, model, decay=0.5)
    return ema.weight.detach(), ema.bias.detach()

# %% [1] named parameters kept in a dict of an object
class Average:
    def __init__(self, model):
        self.params = dict(model.named_parameters())
        self.buffers = dict(model.named_buffers())

    @torch.no_grad()
    def pull(self, other):
        for name, p in other.named_parameters():
            self.params[name].mul_(0.9)
            self.params[name] += 0.1 * p
        for name, b in other.named_buffers():
            self.buffers[name].copy_(b)


def run():
    model = fill(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), 1)
    other = fill(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), 2)
    other(data(6, 4))
    Average(model).pull(other)
    return model[0].weight.detach(), model[1].running_var

# %% [17] statistics of a network that an object holds
import copy


class Pair:
    def __init__(self, net):
        self.online = net
        self.target = copy.deepcopy(net)


def run():
    pair = Pair(fill(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))))
    pair.online(data(6, 4))
    return pair.online[1].running_mean, pair.target[1].running_mean, pair.target[1].running_var
