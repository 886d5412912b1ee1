"""What PIL gives: images, which have methods that tensors have too (`resize`, `point`, `size`)."""

from __future__ import annotations

from migrate.resolve.values import UNKNOWN, CallableOf, Value, instance

IMAGE = instance("PIL.Image.Image")
# Modules whose functions give images, and the names that do not.
_MODULES = ("PIL.Image.", "PIL.ImageOps.", "PIL.ImageChops.")
_NO_IMAGES = frozenset({"getmodebands", "getmodetype", "init", "preinit", "register_open"})
_METHODS = frozenset(
    (
        *("convert", "copy", "crop", "effect_spread", "enhance", "filter", "getchannel", "point"),
        *("quantize", "reduce", "remap_palette", "resize", "rotate", "transform", "transpose"),
    )
)


def image_result(name: str) -> Value:
    """`Image.open(path)`, `ImageOps.mirror(image)`"""
    member = name.rpartition(".")[2]
    gives = name.startswith(_MODULES) and member[:1].islower() and member not in _NO_IMAGES
    return IMAGE if gives else UNKNOWN


def image_member(name: str) -> Value:
    """`image.convert` gives an image when it is called; of others no more is known."""
    return CallableOf(IMAGE) if name in _METHODS else UNKNOWN
