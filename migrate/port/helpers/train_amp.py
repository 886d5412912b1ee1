"""torch's gradient scaler as MindSpore's loss scaler, which training steps call functionally."""

from mindspore import amp


def loss_scaler(
    init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True
):
    """A dynamic loss scaler with torch's numbers; disabled, one that scales by 1."""
    if not enabled:
        return amp.StaticLossScaler(1)
    if growth_factor * backoff_factor != 1 or growth_factor != int(growth_factor):
        raise NotImplementedError("MindSpore grows and shrinks the scale by the same whole number")
    return amp.DynamicLossScaler(init_scale, int(growth_factor), growth_interval)


def GradScaler(
    device="cuda",
    init_scale=65536.0,
    growth_factor=2.0,
    backoff_factor=0.5,
    growth_interval=2000,
    enabled=True,
):
    """torch.amp.GradScaler's arguments, with the device that does not matter here."""
    return loss_scaler(init_scale, growth_factor, backoff_factor, growth_interval, enabled)
