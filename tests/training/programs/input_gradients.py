"""Gradients of plain tensors: gradient penalties in functions and in steps, adversarial examples."""

# ruff: noqa - in the style of their authors

import numpy as np
import torch
import torch.nn.functional as F
from shared import fill, toy
from torch import autograd, nn
from torch.autograd import Variable


class Critic(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(4, 8, 3, stride=2, padding=1),
            norm,
            nn.LeakyReLU(0.2),
            nn.Flatten(),
        )
        self.score = nn.Linear(32, 1)

    def forward(self, img):
        return self.score(self.features(img))


def gradient_penalty(D, real_samples, fake_samples, alpha):
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = Variable(torch.Tensor(real_samples.shape[0], 1).fill_(1.0), requires_grad=False)
    # Get gradient w.r.t. interpolates
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=fake,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def drawn_penalty(D, real_samples, fake_samples, least):
    alpha = least + torch.Tensor(np.random.random((real_samples.size(0), 1, 1, 1)))
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    weights = torch.Tensor(np.linspace(0.5, 1.5, real_samples.size(0))).view(-1, 1)
    gradients = torch.autograd.grad(D(interpolates), interpolates, weights, create_graph=True)[0]
    return ((gradients.view(gradients.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()


def fgsm(model, images, labels, eps):
    images = images.clone().detach()
    images.requires_grad = True
    outputs = model(images)
    loss = F.cross_entropy(outputs, labels)
    model.zero_grad()
    loss.backward()
    right = (outputs.argmax(1) == labels).float().mean()
    return (images + eps * images.grad.data.sign()).detach(), right


def pgd(model, images, labels, eps=0.3, alpha=0.1, steps=3):
    adv = images.clone().detach()
    for _ in range(steps):
        adv.requires_grad_()
        with torch.enable_grad():
            loss = F.cross_entropy(model(adv), labels)
        grad = torch.autograd.grad(loss, [adv])[0]
        adv = adv.detach() + alpha * torch.sign(grad.detach())
        adv = torch.min(torch.max(adv, images - eps), images + eps)
    return adv


def train_critics(penalty_of):
    for number, norm in enumerate(
        [nn.BatchNorm2d(8), nn.InstanceNorm2d(8, affine=True), nn.GroupNorm(2, 8)]
    ):
        D, G = fill(Critic(norm), 1), fill(nn.Linear(5, 64), 2)
        opt_d = torch.optim.SGD(D.parameters(), lr=0.02)
        opt_g = torch.optim.Adam(G.parameters(), lr=0.002, betas=(0.5, 0.9))
        np.random.seed(number)
        for i in range(3):
            real = toy(4, (1, 8, 8), seed=i)[0]
            z = toy(4, (5,), seed=10 + i)[0]
            opt_d.zero_grad()
            fake = G(z).view(4, 1, 8, 8)
            penalty = penalty_of(D, real.data, fake.data, 0.25 + 0.1 * i)
            d_loss = -torch.mean(D(real)) + torch.mean(D(fake.detach())) + 10 * penalty
            d_loss.backward()
            opt_d.step()
            opt_g.zero_grad()
            g_loss = -torch.mean(D(G(z).view(4, 1, 8, 8)))
            g_loss.backward()
            opt_g.step()
            print("%.6f %.6f %.6f" % (d_loss.item(), penalty.item(), g_loss.item()))


def train_r1():
    D = fill(nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.Softplus(), nn.Linear(16, 1)), 3)
    opt = torch.optim.SGD(D.parameters(), lr=0.1)
    for i in range(4):
        real, fake = toy(8, (6,), seed=i)[0], toy(8, (6,), seed=20 + i)[0]
        real.requires_grad_()
        real_pred = D(real)
        fake_pred = D(fake)
        loss = F.softplus(fake_pred).mean() + F.softplus(-real_pred).mean()
        (grad_real,) = autograd.grad(outputs=real_pred.sum(), inputs=real, create_graph=True)
        r1 = grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()
        loss = loss + 5 * r1
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("%.6f %.6f" % (loss.item(), r1.item()))


def train_robust():
    model = fill(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4)), 4)
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for i in range(4):
        x, y = toy(8, (6,), seed=i)
        adv, right = fgsm(model, x, y, 0.1)
        strong = pgd(model, x, y)
        opt.zero_grad()
        loss = F.cross_entropy(model(adv), y) + F.cross_entropy(model(strong), y)
        loss.backward()
        opt.step()
        print("%.6f %.4f %.6f" % (loss.item(), right.item(), strong.sum().item()))


train_r1()
train_robust()
train_critics(gradient_penalty)
train_critics(drawn_penalty)
