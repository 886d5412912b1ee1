"""Optimizers and schedules from configurations."""

import torch


def build_optimizer(model, cfg):
    """Parameters whose name has one of the words of no_decay are not decayed."""
    cfg = dict(cfg)
    kind = cfg.pop("type")
    words = cfg.pop("no_decay", [])
    if hasattr(model, "module"):
        model = model.module
    decayed, others = [], []
    for name, param in model.named_parameters():
        if not param.requires_grad:
            continue
        kept = any(word in name for word in words) or param.ndim == 1
        (others if kept else decayed).append(param)
    groups = [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
    return getattr(torch.optim, kind)(groups, **cfg)


def build_scheduler(optimizer, cfg):
    cfg = dict(cfg)
    return getattr(torch.optim.lr_scheduler, cfg.pop("type"))(optimizer, **cfg)
