# %% [0] an average meter and accuracy at k
class AverageMeter(object):
    """Computes and stores the average and current value"""
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

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

def run():
    model = fill(nn.Linear(3, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    losses, top1, top3 = AverageMeter(), AverageMeter(), AverageMeter()
    model.train()
    for i in range(3):
        images, target = data(4, 3, seed=i), labels(4, 5, seed=i)
        output = model(images)
        loss = criterion(output, target)
        acc1, acc3 = accuracy(output, target, topk=(1, 3))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1[0], images.size(0))
        top3.update(acc3.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses.avg, top1.avg, top3.avg, losses.count

# %% [14] a GAN in the style of the DCGAN example
class Generator(nn.Module):
    def __init__(self, nz=4):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(nz, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(True), nn.Linear(8, 3), nn.Tanh())

    def forward(self, input):
        return self.main(input)

class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 1), nn.Sigmoid())

    def forward(self, input):
        return self.main(input).view(-1, 1).squeeze(1)

def run():
    netG, netD = fill(Generator()), fill(Discriminator(), seed=3)
    criterion = nn.BCELoss()
    real_label, fake_label = 1, 0
    optimizerD = torch.optim.Adam(netD.parameters(), lr=0.01, betas=(0.5, 0.999))
    optimizerG = torch.optim.Adam(netG.parameters(), lr=0.01, betas=(0.5, 0.999))
    log = []
    for i in range(2):
        netD.zero_grad()
        real = data(4, 3, seed=i)
        batch_size = real.size(0)
        label = torch.full((batch_size,), real_label, dtype=real.dtype)
        output = netD(real)
        errD_real = criterion(output, label)
        errD_real.backward()
        D_x = output.mean().item()
        noise = data(batch_size, 4, seed=10 + i)
        fake = netG(noise)
        label.fill_(fake_label)
        output = netD(fake.detach())
        errD_fake = criterion(output, label)
        errD_fake.backward()
        D_G_z1 = output.mean().item()
        errD = errD_real + errD_fake
        optimizerD.step()
        netG.zero_grad()
        label.fill_(real_label)
        output = netD(fake)
        errG = criterion(output, label)
        errG.backward()
        D_G_z2 = output.mean().item()
        optimizerG.step()
        log.append([errD.item(), errG.item(), D_x, D_G_z1, D_G_z2])
    return log, netG, netD

# %% [14] WGAN-GP with a critic trained more often
def compute_gradient_penalty(D, real_samples, fake_samples, alpha):
    interpolates = (alpha * real_samples + (1 - alpha) * fake_samples).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = torch.ones(real_samples.shape[0], 1)
    gradients = torch.autograd.grad(
        outputs=d_interpolates, inputs=interpolates, grad_outputs=fake,
        create_graph=True, retain_graph=True, only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()

def run():
    G = fill(nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3)))
    D = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), seed=5)
    opt_G = torch.optim.Adam(G.parameters(), lr=0.01)
    opt_D = torch.optim.Adam(D.parameters(), lr=0.01)
    log = []
    for i in range(4):
        real = data(4, 3, seed=i)
        opt_D.zero_grad()
        z = data(4, 2, seed=20 + i)
        fake = G(z)
        gp = compute_gradient_penalty(D, real.data, fake.data, torch.full((4, 1), 0.3))
        d_loss = -torch.mean(D(real)) + torch.mean(D(fake)) + 10 * gp
        d_loss.backward()
        opt_D.step()
        opt_G.zero_grad()
        if i % 2 == 0:
            g_loss = -torch.mean(D(G(z)))
            g_loss.backward()
            opt_G.step()
            log.append((d_loss.item(), g_loss.item()))
    return log, G, D

# %% [14] an alternating GAN with requires_grad switched
def set_requires_grad(nets, requires_grad=False):
    if not isinstance(nets, list):
        nets = [nets]
    for net in nets:
        if net is not None:
            for param in net.parameters():
                param.requires_grad = requires_grad

def run():
    G, D = fill(nn.Linear(2, 3)), fill(nn.Linear(3, 1), seed=4)
    oG = torch.optim.SGD(G.parameters(), lr=0.1)
    oD = torch.optim.SGD(D.parameters(), lr=0.1, weight_decay=0.1)
    for i in range(3):
        fake = G(data(4, 2, seed=i))
        set_requires_grad([D], False)
        oG.zero_grad()
        loss_G = F.softplus(-D(fake)).mean()
        loss_G.backward()
        oG.step()
        set_requires_grad(D, True)
        oD.zero_grad()
        loss_D = F.softplus(D(fake.detach())).mean() + F.softplus(-D(data(4, 3, seed=7 + i))).mean()
        loss_D.backward()
        oD.step()
    return G, D

# %% [0] gradient accumulation with a remainder and clipping
def run():
    model = fill(nn.Linear(3, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    accumulation_steps, n = 3, 7
    model.zero_grad()
    log = []
    for step in range(n):
        x, y = data(4, 3, seed=step), labels(4, 2, seed=step)
        loss = F.cross_entropy(model(x), y) / accumulation_steps
        loss.backward()
        log.append(loss.item())
        if (step + 1) % accumulation_steps == 0 or step + 1 == n:
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            log.append(norm.item())
            optimizer.step()
            model.zero_grad()
    return log, model

# %% [0] REINFORCE with saved log-probabilities
from torch.distributions import Categorical

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(3, 4)
        self.affine2 = nn.Linear(4, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.affine2(x), dim=1)

def run():
    policy = fill(Policy())
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
    out = []
    for episode in range(2):
        for t in range(3):
            probs = policy(data(1, 3, seed=10 * episode + t))
            m = Categorical(probs)
            action = torch.tensor([(t + episode) % 2])
            policy.saved_log_probs.append(m.log_prob(action))
            policy.rewards.append(float(t))
        R, returns = 0, []
        for r in policy.rewards[::-1]:
            R = r + 0.9 * R
            returns.insert(0, R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-5)
        policy_loss = []
        for log_prob, R in zip(policy.saved_log_probs, returns):
            policy_loss.append(-log_prob * R)
        optimizer.zero_grad()
        policy_loss = torch.cat(policy_loss).sum()
        policy_loss.backward()
        optimizer.step()
        out.append(policy_loss.item())
        del policy.rewards[:]
        del policy.saved_log_probs[:]
    return out, policy

# %% [0] actor-critic with a Normal policy and entropy
from torch.distributions import Normal

class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(3, 2)
        self.critic = nn.Linear(3, 1)
        self.log_std = nn.Parameter(torch.zeros(2) - 0.5)

    def act(self, x):
        mu = torch.tanh(self.actor(x))
        return Normal(mu, self.log_std.exp().expand_as(mu)), self.critic(x)

def run():
    net = fill(ActorCritic())
    opt = torch.optim.Adam(net.parameters(), lr=0.02)
    log = []
    for i in range(3):
        s, a, r = data(4, 3, seed=i), data(4, 2, seed=30 + i), data(4, 1, seed=60 + i)
        dist, value = net.act(s)
        adv = r - value
        logp = dist.log_prob(a).sum(-1, keepdim=True)
        entropy = dist.entropy().sum(-1).mean()
        loss = -(logp * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * entropy
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        log.append((loss.item(), entropy.item()))
    return log, net

# %% [0] DQN with a target network loaded every few steps
class QNet(nn.Module):
    def __init__(self, n=3, actions=2):
        super().__init__()
        self.fc1 = nn.Linear(n, 4)
        self.fc2 = nn.Linear(4, actions)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))

def run():
    policy_net, target_net = fill(QNet()), QNet()
    target_net.load_state_dict(policy_net.state_dict())
    target_net.eval()
    optimizer = torch.optim.RMSprop(policy_net.parameters(), lr=0.01)
    log = []
    for i in range(4):
        state, nxt = data(4, 3, seed=i), data(4, 3, seed=50 + i)
        action, reward = labels(4, 2, seed=i).unsqueeze(1), data(4, seed=70 + i)
        non_final_mask = torch.tensor([True, False, True, True])
        state_action_values = policy_net(state).gather(1, action)
        next_state_values = torch.zeros(4)
        next_state_values[non_final_mask] = target_net(nxt[non_final_mask]).max(1)[0].detach()
        expected = next_state_values * 0.9 + reward
        loss = F.smooth_l1_loss(state_action_values, expected.unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        for param in policy_net.parameters():
            param.grad.data.clamp_(-1, 1)
        optimizer.step()
        log.append(loss.item())
        if i % 2 == 1:
            target_net.load_state_dict(policy_net.state_dict())
    return log, policy_net, target_net

# %% [0] SAC's twin critics and temperature
def run():
    q1, q2, pi = fill(nn.Linear(4, 1)), fill(nn.Linear(4, 1), seed=2), fill(nn.Linear(3, 1), seed=3)
    log_alpha = torch.zeros(1, requires_grad=True)
    q_opt = torch.optim.Adam(list(q1.parameters()) + list(q2.parameters()), lr=0.01)
    pi_opt = torch.optim.Adam(pi.parameters(), lr=0.01)
    alpha_opt = torch.optim.Adam([log_alpha], lr=0.01)
    log = []
    for i in range(3):
        s, r = data(4, 3, seed=i), data(4, 1, seed=9 + i)
        alpha = log_alpha.exp().item()
        with torch.no_grad():
            a = torch.tanh(pi(s))
            sa = torch.cat([s, a], 1)
            target = r + 0.9 * (torch.min(q1(sa), q2(sa)) - alpha * a)
        q_loss = F.mse_loss(q1(sa), target) + F.mse_loss(q2(sa), target)
        q_opt.zero_grad()
        q_loss.backward()
        q_opt.step()
        for p in list(q1.parameters()) + list(q2.parameters()):
            p.requires_grad = False
        a = torch.tanh(pi(s))
        logp = -a.pow(2)
        pi_loss = (alpha * logp - torch.min(q1(torch.cat([s, a], 1)), q2(torch.cat([s, a], 1)))).mean()
        pi_opt.zero_grad()
        pi_loss.backward()
        pi_opt.step()
        for p in list(q1.parameters()) + list(q2.parameters()):
            p.requires_grad = True
        alpha_loss = -(log_alpha * (logp + 1.0).detach()).mean()
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
        log.append((q_loss.item(), pi_loss.item(), alpha_loss.item()))
    return log, log_alpha

# %% [0] freezing for the first epoch, then all
def freeze(module):
    for p in module.parameters():
        p.requires_grad_(False)

def unfreeze(module):
    for p in module.parameters():
        p.requires_grad_(True)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.backbone(x))

def run():
    net = fill(Net())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
    trainable = []
    for epoch in range(3):
        if epoch == 0:
            freeze(net.backbone)
        elif epoch == 1:
            unfreeze(net.backbone)
        trainable.append(sum(p.numel() for p in net.parameters() if p.requires_grad))
        for i in range(2):
            loss = F.cross_entropy(net(data(4, 3, seed=i)), labels(4, 2, seed=i))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return trainable, net

# %% [0] a new optimizer for the second phase
def run():
    net = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
    log = []
    for phase in range(2):
        if phase == 0:
            for p in net[0].parameters():
                p.requires_grad = False
            optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, net.parameters()), lr=0.1)
        else:
            for p in net.parameters():
                p.requires_grad = True
            optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for i in range(2):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(data(4, 3, seed=i)), labels(4, 2, seed=i))
            loss.backward()
            optimizer.step()
            log.append(loss.item())
    return log, net

# %% [0] early stopping with patience and the best weights
import copy

class EarlyStopping:
    def __init__(self, patience=2):
        self.patience, self.counter, self.best, self.early_stop = patience, 0, None, False
        self.state = None

    def __call__(self, loss, model):
        if self.best is None or loss < self.best:
            self.best, self.counter = loss, 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.counter += 1
            if self.counter >= self.patience:
                self.early_stop = True

def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=1.5)
    stopper, seen = EarlyStopping(), 0
    for epoch in range(10):
        m.train()
        opt.zero_grad()
        loss = m(data(4, 3)).pow(2).mean()
        loss.backward()
        opt.step()
        m.eval()
        with torch.no_grad():
            val = m(data(4, 3, seed=4)).pow(2).mean()
        stopper(val.item(), m)
        seen += 1
        if stopper.early_stop:
            break
    m.load_state_dict(stopper.state)
    return seen, stopper.best, m

# %% [0] truncated backpropagation with repackaged states
def repackage_hidden(h):
    """Wraps hidden states in new Tensors, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    else:
        return tuple(repackage_hidden(v) for v in h)

class RNNModel(nn.Module):
    def __init__(self, ntoken=6, ninp=4, nhid=4):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, 1)
        self.decoder = nn.Linear(nhid, ntoken)
        self.decoder.weight = self.encoder.weight
        self.nhid = nhid

    def forward(self, input, hidden):
        emb = self.encoder(input)
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(output)
        return decoded.view(-1, 6), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(1, bsz, self.nhid), weight.new_zeros(1, bsz, self.nhid))

def run():
    model = fill(RNNModel())
    criterion = nn.CrossEntropyLoss()
    hidden = model.init_hidden(2)
    total_loss = 0.
    lr = 0.5
    for i in range(3):
        d, t = labels(6, 6, seed=i).view(3, 2), labels(6, 6, seed=20 + i)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(d, hidden)
        loss = criterion(output, t)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total_loss += loss.item()
    return total_loss, model

# %% [0] knowledge distillation with temperature and a frozen teacher
def loss_fn_kd(outputs, labels, teacher_outputs, alpha=0.7, T=3.0):
    return nn.KLDivLoss(reduction="batchmean")(F.log_softmax(outputs / T, dim=1), F.softmax(teacher_outputs / T, dim=1)) * (alpha * T * T) + F.cross_entropy(outputs, labels) * (1. - alpha)

def run():
    teacher, student = fill(nn.Linear(3, 4), seed=8), fill(nn.Linear(3, 4))
    teacher.eval()
    for p in teacher.parameters():
        p.requires_grad = False
    opt = torch.optim.Adam(student.parameters(), lr=0.05)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), labels(4, 4, seed=i)
        out = student(x)
        with torch.no_grad():
            t_out = teacher(x)
        loss = loss_fn_kd(out, y, t_out)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, student, teacher

# %% [0] multi-task with learned uncertainty
class MultiTaskLoss(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(n))

    def forward(self, *losses):
        total = 0
        for i, l in enumerate(losses):
            total += torch.exp(-self.log_vars[i]) * l + self.log_vars[i]
        return total

def run():
    body, heads = fill(nn.Linear(3, 4)), nn.ModuleDict({"a": fill(nn.Linear(4, 1)), "b": fill(nn.Linear(4, 2), seed=3)})
    mtl = MultiTaskLoss(2)
    opt = torch.optim.Adam([*body.parameters(), *heads.parameters(), *mtl.parameters()], lr=0.05)
    log = []
    for i in range(3):
        h = body(data(4, 3, seed=i))
        la = heads["a"](h).pow(2).mean()
        lb = F.cross_entropy(heads["b"](h), labels(4, 2, seed=i))
        loss = mtl(la, lb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append({"a": la.item(), "b": lb.item(), "all": loss.item()})
    return log, mtl.log_vars

# %% [0] a VAE with a reparameterisation and a summed loss
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 4)
        self.fc21 = nn.Linear(4, 2)
        self.fc22 = nn.Linear(4, 2)
        self.fc3 = nn.Linear(2, 4)
        self.fc4 = nn.Linear(4, 6)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        std = torch.exp(0.5 * logvar)
        eps = torch.full_like(std, 0.3)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 6))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar

def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 6), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD

def run():
    model = fill(VAE())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model.train()
    train_loss = 0
    for i in range(3):
        batch = torch.sigmoid(data(4, 1, 2, 3, seed=i))
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(batch)
        loss = loss_function(recon_batch, batch, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    model.eval()
    test_loss = 0
    with torch.no_grad():
        recon, mu, logvar = model(torch.sigmoid(data(4, 1, 2, 3, seed=9)))
        test_loss += loss_function(recon, torch.sigmoid(data(4, 1, 2, 3, seed=9)), mu, logvar).item()
    return train_loss, test_loss

# %% [0] style transfer: an image optimised by LBFGS with a counter in a list
def run():
    target = data(1, 3, 4, 4)
    input_img = torch.zeros(1, 3, 4, 4)
    conv = fill(nn.Conv2d(3, 4, 3, padding=1))
    for p in conv.parameters():
        p.requires_grad_(False)
    feat = conv(target).detach()
    input_img.requires_grad_(True)
    optimizer = torch.optim.LBFGS([input_img], max_iter=3)
    run_ = [0]
    while run_[0] <= 3:
        def closure():
            with torch.no_grad():
                input_img.clamp_(0, 1)
            optimizer.zero_grad()
            loss = F.mse_loss(conv(input_img), feat)
            loss.backward()
            run_[0] += 1
            return loss
        optimizer.step(closure)
    with torch.no_grad():
        input_img.clamp_(0, 1)
    return input_img, run_[0]

# %% [0] a MAML inner step by hand
def run():
    w = torch.tensor(np.full((1, 3), 0.5, "float32"), requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), data(4, 1, seed=9 + i)
        inner = F.mse_loss(F.linear(x, w), y)
        g, = torch.autograd.grad(inner, [w], create_graph=True)
        fast = w - 0.1 * g
        outer = F.mse_loss(F.linear(x * 2, fast), y)
        opt.zero_grad()
        outer.backward()
        opt.step()
        log.append((inner.item(), outer.item()))
    return log, w

# %% [0] a Trainer with a config, epochs and validation
class Trainer:
    def __init__(self, model, train_batches, val_batches, cfg):
        self.model, self.train_batches, self.val_batches, self.cfg = model, train_batches, val_batches, cfg
        self.optimizer = self.configure_optimizers()
        self.history = {"train": [], "val": []}
        self.global_step = 0

    def configure_optimizers(self):
        decay = [p for n, p in self.model.named_parameters() if p.dim() >= 2]
        nodecay = [p for n, p in self.model.named_parameters() if p.dim() < 2]
        return torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": nodecay, "weight_decay": 0.0}], lr=self.cfg["lr"])

    def training_step(self, batch):
        x, y = batch
        logits = self.model(x)
        return F.cross_entropy(logits, y), logits

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for batch in self.train_batches:
            loss, logits = self.training_step(batch)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg["clip"])
            self.optimizer.step()
            self.global_step += 1
            total += loss.item()
        return total / len(self.train_batches)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        return np.mean([self.training_step(b)[0].item() for b in self.val_batches])

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.history["train"].append(self.train_epoch())
            self.history["val"].append(float(self.evaluate()))
        return self.history

def run():
    model = fill(nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.0), nn.GELU(), nn.Linear(4, 3)))
    batches = [(data(4, 3, seed=i), labels(4, 3, seed=i)) for i in range(3)]
    t = Trainer(model, batches, batches[:1], {"lr": 0.05, "clip": 1.0, "epochs": 2})
    return t.fit(), t.global_step, model

# %% [0] DataLoader of a TensorDataset, with train and test functions
from torch.utils.data import DataLoader, TensorDataset

def train(model, loader, optimizer, epoch, log_interval=1):
    model.train()
    for batch_idx, (x, target) in enumerate(loader):
        optimizer.zero_grad()
        output = model(x)
        loss = F.nll_loss(F.log_softmax(output, dim=1), target)
        loss.backward()
        optimizer.step()
        if batch_idx % log_interval == 0:
            print("Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.4f}".format(epoch, batch_idx * len(x), len(loader.dataset), 100. * batch_idx / len(loader), loss.item()))

def test(model, loader):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for x, target in loader:
            output = F.log_softmax(model(x), dim=1)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    test_loss /= len(loader.dataset)
    return test_loss, correct

def run():
    ds = TensorDataset(data(10, 3), labels(10, 3))
    loader = DataLoader(ds, batch_size=4, shuffle=False)
    model = fill(nn.Linear(3, 3))
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    out = []
    for epoch in range(1, 3):
        train(model, loader, optimizer, epoch)
        out.append(test(model, loader))
        scheduler.step()
    return out

# %% [0] warm restarts stepped by fractions of epochs
def run():
    m = fill(nn.Linear(4, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=2, T_mult=2)
    lrs = []
    for epoch in range(4):
        for i in range(2):
            opt.zero_grad()
            m(data(5, 4, seed=i)).pow(2).mean().backward()
            opt.step()
            sched.step(epoch + i / 2)
            lrs.append(opt.param_groups[0]["lr"])
    return lrs, m.weight.detach()

# %% [0] gradients that nothing clears
def run():
    m = fill(nn.Linear(4, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.01)
    losses = []
    for i in range(4):
        loss = m(data(5, 4, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, m.weight.detach()

# %% [0] cells as the name of a list of layers
class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x):
        for cell in self.cells:
            x = torch.tanh(cell(x))
        return x


def run():
    return fill(Stack())(data(2, 4))

# %% [4] the outputs are passed to the function that trains
def update(out, y, opt, criterion):
    loss = criterion(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def run():
    net = fill(nn.Linear(4, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = [update(net(data(5, 4, seed=i)), labels(5, 3, seed=i), opt, nn.CrossEntropyLoss()) for i in range(3)]
    return losses, net.weight.detach()

# %% [4] features are passed to the object that trains
class NoamOpt:
    def __init__(self, size, warmup, optimizer):
        self.optimizer, self.size, self.warmup, self.steps = optimizer, size, warmup, 0

    def step(self):
        self.steps += 1
        rate = self.size ** -0.5 * min(self.steps ** -0.5, self.steps * self.warmup ** -1.5)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()


class LossCompute:
    def __init__(self, generator, criterion, opt):
        self.generator, self.criterion, self.opt = generator, criterion, opt

    def __call__(self, x, y, norm):
        loss = self.criterion(self.generator(x), y) / norm
        loss.backward()
        if self.opt is not None:
            self.opt.step()
            self.opt.optimizer.zero_grad()
        return loss.item() * norm


def run_epoch(batches, model, loss_compute):
    return sum(loss_compute(model(x), y, x.size(0)) for x, y in batches)


def run():
    model, generator = fill(nn.Linear(4, 5), 1), fill(nn.Linear(5, 3), 2)
    adam = torch.optim.Adam([*model.parameters(), *generator.parameters()], lr=0)
    compute = LossCompute(generator, nn.CrossEntropyLoss(), NoamOpt(5, 4, adam))
    batches = [(data(6, 4, seed=i), labels(6, 3, seed=i)) for i in range(3)]
    return [run_epoch(batches, model, compute) for _ in range(2)], model.weight.detach()

# %% [4] a value that forward has kept on the object is trained
class GAN:
    def __init__(self):
        self.G, self.D = fill(nn.Linear(4, 4), 1), fill(nn.Linear(4, 1), 2)
        self.opt = torch.optim.SGD(self.G.parameters(), lr=0.1)

    def forward(self, x):
        self.fake = torch.tanh(self.G(x))

    def optimize(self, x):
        self.forward(x)
        loss = self.D(self.fake).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def run():
    gan = GAN()
    return [gan.optimize(data(5, 4, seed=i)) for i in range(3)], gan.G.weight.detach()

# %% [0] a callback of another file clears the gradients
from trainer import Trainer, ZeroGrad, History

def run():
    net = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)))
    opt = torch.optim.Adam(net.parameters(), lr=0.05)
    hist = History()
    t = Trainer(net, opt, nn.MSELoss(), [ZeroGrad(every=2), hist])
    t.fit([(data(5, 4, seed=i), data(5, 2, seed=i + 50)) for i in range(3)], epochs=2)
    return hist.losses, net
# --- trainer.py
class Callback:
    def on_batch_start(self, trainer, i): pass
    def on_batch_end(self, trainer, i, loss): pass

class ZeroGrad(Callback):
    def __init__(self, every):
        self.every = every
    def on_batch_start(self, trainer, i):
        if i % self.every == 0:
            trainer.optimizer.zero_grad()

class History(Callback):
    def __init__(self):
        self.losses = []
    def on_batch_end(self, trainer, i, loss):
        self.losses.append(float(loss))

class Trainer:
    def __init__(self, model, optimizer, criterion, callbacks):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.callbacks = callbacks

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            for i, (x, y) in enumerate(batches):
                for cb in self.callbacks:
                    cb.on_batch_start(self, i)
                out = self.model(x)
                loss = self.criterion(out, y)
                loss.backward()
                self.optimizer.step()
                for cb in self.callbacks:
                    cb.on_batch_end(self, i, loss.detach())

# %% [1] an average of models by numbers of numpy
from copy import deepcopy

class ModelEMA:
    def __init__(self, model, decay=0.9, updates=0):
        self.ema = deepcopy(model).eval()
        self.updates = updates
        self.decay = lambda x: decay * (1 - np.exp(-x / 10))
        for p in self.ema.parameters():
            p.requires_grad_(False)

    def update(self, model):
        with torch.no_grad():
            self.updates += 1
            d = self.decay(self.updates)
            msd = model.state_dict()
            for k, v in self.ema.state_dict().items():
                if v.dtype.is_floating_point:
                    v *= d
                    v += (1.0 - d) * msd[k].detach()

def run():
    net = fill(nn.Sequential(nn.Linear(4, 5, bias=False), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3)))
    ema = ModelEMA(net)
    opt = torch.optim.RMSprop(net.parameters(), lr=0.01, alpha=0.9, momentum=0.5)
    for i in range(4):
        loss = F.cross_entropy(net(data(8, 4, seed=i)), labels(8, 3, seed=i), label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(net)
    return net, ema.ema, ema.ema(data(3, 4)), ema.ema[1].running_var
