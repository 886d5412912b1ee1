"""Networks by name."""

from .bottleneck import BottleneckNet
from .plain import plain_net

_NETS = {"bottleneck": BottleneckNet, "plain": plain_net}


def build_net(name: str, **options):
    try:
        builder = _NETS[name]
    except KeyError:
        raise ValueError(f"unknown net {name!r}: choose from {sorted(_NETS)}") from None
    return builder(**options)
