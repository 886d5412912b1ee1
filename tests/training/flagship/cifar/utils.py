"""Small tools of the script: a progress line, initial weights, cut-outs."""

import sys
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.init as init

_begun = time.time()


def show_progress(current, total, loss, correct, seen):
    line = f"[{current + 1:>4}/{total}] {time.time() - _begun:7.1f} s  loss {loss:.3f}"
    sys.stdout.write(f"\r{line}  acc {100.0 * correct / seen:.2f}% ({correct}/{seen})")
    if current == total - 1:
        sys.stdout.write("\n")
    sys.stdout.flush()


def count_parameters(net):
    return sum(p.numel() for p in net.parameters() if p.requires_grad)


def init_params(net):
    """Initial weights by the kind of layer."""
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            init.kaiming_normal_(m.weight, mode="fan_out")
            if m.bias is not None:
                init.constant_(m.bias, 0)
        elif isinstance(m, nn.BatchNorm2d):
            init.constant_(m.weight, 1)
            init.constant_(m.bias, 0)
        elif isinstance(m, nn.Linear):
            init.normal_(m.weight, std=1e-3)
            if m.bias is not None:
                init.constant_(m.bias, 0)


class Cutout:
    """Squares of zeros at random places of an image."""

    def __init__(self, n_holes, length):
        self.n_holes = n_holes
        self.length = length

    def __call__(self, img):
        h, w = img.size(1), img.size(2)
        mask = np.ones((h, w), np.float32)
        for _ in range(self.n_holes):
            y, x = np.random.randint(h), np.random.randint(w)
            top, left = max(0, y - self.length // 2), max(0, x - self.length // 2)
            mask[top : y + self.length // 2, left : x + self.length // 2] = 0.0
        mask = torch.from_numpy(mask).expand_as(img)
        return img * mask
