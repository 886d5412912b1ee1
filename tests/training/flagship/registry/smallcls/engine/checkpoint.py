"""Files of weights, and of everything that goes on with them."""

import time
from collections import OrderedDict

import torch


def weights_to_cpu(state_dict):
    return OrderedDict((key, value.cpu()) for key, value in state_dict.items())


def save_checkpoint(model, filename, optimizer=None, scheduler=None, scaler=None, meta=None):
    meta = {"time": time.asctime(), **(meta or {})}
    if hasattr(model, "module"):
        model = model.module
    checkpoint = {"meta": meta, "state_dict": weights_to_cpu(model.state_dict())}
    if optimizer is not None:
        checkpoint["optimizer"] = optimizer.state_dict()
    if scheduler is not None:
        checkpoint["scheduler"] = scheduler.state_dict()
    if scaler is not None:
        checkpoint["scaler"] = scaler.state_dict()
    torch.save(checkpoint, filename)


def load_weights(model, filename, map_location="cpu", strict=True):
    checkpoint = torch.load(filename, map_location=map_location)
    state_dict = checkpoint.get("state_dict", checkpoint)
    if list(state_dict.keys())[0].startswith("module."):
        state_dict = {k[7:]: v for k, v in state_dict.items()}
    if hasattr(model, "module"):
        model = model.module
    missing, unexpected = model.load_state_dict(state_dict, strict=False)
    if strict and (missing or unexpected):
        raise RuntimeError(f"missing keys {missing}, unexpected keys {unexpected}")
    return checkpoint
