"""What a probe does inside the interpreter in question; run as a file, also by old Pythons.

Usage: inside.py PROBE ANSWER OPTIONS. Each stage appends one JSON line to ANSWER as soon as it is
done, so that even a crash leaves behind how far the interpreter came.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

PACKAGES = ("numpy", "torch", "torchvision", "mindspore", "safetensors", "libcst", "rich")


def interpreter(tell: Callable[..., None], options: dict[str, str]) -> None:
    """Versions from the packages' metadata: quick, and true even where an import would crash."""
    from importlib import metadata, util

    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            # Built from source and put on the path: there, but nobody wrote down its version.
            if util.find_spec(package) is not None:
                versions[package] = "unknown version"
    tell("python", version=list(sys.version_info[:3]), packages=versions)


def numpy(tell: Callable[..., None], options: dict[str, str]) -> None:
    import numpy as np

    tell("import", version=np.__version__)


def torch(tell: Callable[..., None], options: dict[str, str]) -> None:
    import torch as framework

    tell("import", version=str(framework.__version__))
    framework.set_num_threads(1)
    image, kernel = (framework.tensor(v).reshape(s).requires_grad_() for v, s in tensors())
    output = framework.nn.functional.conv2d(image, kernel, stride=2, padding=1)
    loss = (output * output).mean()
    loss.backward()
    tell("kernels", loss=float(loss), gradients=numbers(image.grad) + numbers(kernel.grad))


def mindspore(tell: Callable[..., None], options: dict[str, str]) -> None:
    import mindspore as framework

    tell("import", version=str(framework.__version__))
    framework.set_device(options["device"])
    # Errors should surface at the operator that made them.
    framework.runtime.launch_blocking()
    # A driver that is missing is noticed by the first operator at the latest.
    framework.ops.relu(framework.Tensor([1.0], framework.float32)).asnumpy()
    tell("device", device=options["device"])
    image, kernel = (framework.Tensor(v, framework.float32).reshape(s) for v, s in tensors())

    def forward(image: Any, kernel: Any) -> Any:
        output = framework.ops.conv2d(image, kernel, stride=2, pad_mode="pad", padding=1)
        return (output * output).mean()

    loss, gradients = framework.value_and_grad(forward, (0, 1))(image, kernel)
    # This is where numpy 2 shows itself beside a mindspore that was built for numpy 1.
    total = framework.Tensor([1.0, 2.0], framework.float32)
    total += framework.Tensor([1.0, 1.0], framework.float32)
    assert total.asnumpy().tolist() == [2.0, 3.0]
    tell(
        "kernels",
        loss=float(loss.asnumpy()),
        gradients=[x for gradient in gradients for x in numbers(gradient.asnumpy())],
    )


def torchvision(tell: Callable[..., None], options: dict[str, str]) -> None:
    """Its C++ operators are found when torch loads them; without them a plain import fails."""
    import torch as framework

    try:
        import torchvision as vision
    except (RuntimeError, AttributeError) as error:
        if "torchvision::nms" not in str(error):
            raise
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        namespace: dict[str, Any] = {"__name__": "vision_shim"}
        exec(options["shim"], namespace)
        namespace["ensure_torchvision"]()
        import torchvision as vision

        tell("import", version=str(vision.__version__), operators=False)
        return
    boxes = framework.tensor([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
    kept = vision.ops.nms(boxes, framework.tensor([0.5, 0.9]), 0.5)
    tell("import", version=str(vision.__version__), operators=kept.tolist() == [1])


def tensors() -> Iterator[tuple[list[float], tuple[int, ...]]]:
    """The same numbers in every framework, drawn by none of them."""
    for shape, pace in (((2, 3, 8, 8), 0.7), ((4, 3, 3, 3), 1.3)):
        size = shape[0] * shape[1] * shape[2] * shape[3]
        yield [math.sin(pace * index) for index in range(size)], shape


def numbers(array: Any) -> list[float]:
    return [float(value) for value in array.reshape(-1)]


def main() -> None:
    probe, answer, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    # Our own folder must not stand in for a package that is missing.
    sys.path[:] = [
        entry for entry in sys.path if entry != os.path.dirname(os.path.abspath(__file__))
    ]

    def tell(stage: str, **facts: object) -> None:
        with open(answer, "a") as stream:
            stream.write(json.dumps(dict(facts, stage=stage)) + "\n")

    probes = (interpreter, numpy, torch, mindspore, torchvision)
    try:
        {function.__name__: function for function in probes}[probe](tell, options)
    except BaseException as error:
        tell("error", kind=type(error).__name__, message=str(error))
    sys.stdout.flush()
    # mindspore may crash while it winds down, which would say nothing about its health.
    os._exit(0)


if __name__ == "__main__":
    main()
