"""Let torchvision import beside a CPU build of torch, whose wheel lacks the C++ operators it
registers against.
"""

from __future__ import annotations

# Kept at module level: a Library unregisters its schemas when it is collected.
_libraries: list[object] = []

_SCHEMAS = (
    ("nms", "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"),
    ("qnms", "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"),
)


def ensure_torchvision() -> None:
    """Define the schemas that `import torchvision` needs, only where its compiled operators are
    absent.
    """
    import torch

    for name, schema in _SCHEMAS:
        try:
            getattr(torch.ops.torchvision, name)
        except (AttributeError, RuntimeError):
            library = torch.library.Library("torchvision", "DEF" if not _libraries else "FRAGMENT")
            library.define(schema)
            _libraries.append(library)
