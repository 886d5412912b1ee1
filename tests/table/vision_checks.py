"""What test_training_rows runs about torchvision.

MindSpore reads the source of what it compiles, so the checks are in a file of their own.
"""

from __future__ import annotations


def weighted_sum(block, weight):
    from mindspore import Tensor

    weight = Tensor(weight)

    def loss(x):
        return (block(x) * weight).sum()

    return loss


def block_differences():
    import mindspore
    import numpy as np
    import torch
    from mindspore import Tensor

    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    import torchvision.ops as theirs

    from migrate.emit.helpers import vision_blocks as ours

    random = np.random.RandomState(0)
    cases = {
        "Conv2dNormActivation": ((3, 4), {"kernel_size": (3, 5), "dilation": 2}, (2, 3, 9, 9)),
        "Conv3dNormActivation": ((3, 4), {"kernel_size": (1, 3, 3)}, (2, 3, 4, 5, 5)),
        "SqueezeExcitation": ((4, 2), {}, (2, 4, 5, 5)),
        "MLP": ((4, [8, 3]), {}, (2, 4)),
        "Permute": (([0, 3, 1, 2],), {}, (2, 4, 3, 5)),
        "FrozenBatchNorm2d": ((4,), {}, (2, 4, 3, 3)),
    }
    renamed = {"gamma": "weight", "beta": "bias", "bn2d": ""}
    renamed |= {"moving_mean": "running_mean", "moving_variance": "running_var"}
    differences = {}
    for name, (arguments, options, shape) in cases.items():
        torch.manual_seed(0)
        reference = getattr(theirs, name)(*arguments, **options).train()
        block = getattr(ours, name)(*arguments, **options)
        block.set_train()
        state = reference.state_dict()
        for path, parameter in block.parameters_and_names():
            parts = [renamed.get(part, part) for part in path.split(".")]
            value = state[".".join(part for part in parts if part)].numpy()
            parameter.set_data(Tensor(value.reshape(parameter.shape)))
        x = random.randn(*shape).astype(np.float32)
        given = torch.tensor(x, requires_grad=True)
        output = reference(given)
        weight = random.randn(*output.shape).astype(np.float32)
        (output * torch.tensor(weight)).sum().backward()

        parameters = list(block.trainable_params())
        expected = [p.grad.numpy() for p in reference.parameters()]
        for mode in ("pynative", "graph"):
            gradient = mindspore.grad(weighted_sum(block, weight), 0, parameters or None)
            gradient = mindspore.jit(gradient) if mode == "graph" else gradient
            found = gradient(Tensor(x))
            to_input, to_parameters = found if parameters else (found, ())
            worst = float(np.abs(to_input.asnumpy() - given.grad.numpy()).max())
            for a, b in zip(to_parameters, expected, strict=True):
                worst = max(worst, float(np.abs(a.asnumpy().reshape(b.shape) - b).max()))
            differences[f"{name} {mode}"] = worst
    return differences


def region_differences():
    import sys

    import mindspore
    import numpy as np
    import torch
    from mindspore import Tensor

    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    import torchvision.ops as theirs

    from migrate.emit.helpers import vision_boxes, vision_losses
    from migrate.emit.helpers.vision_roi import roi_align

    random = np.random.RandomState(0)

    def boxes(count):
        corner = random.rand(count, 2) * 10
        return np.hstack([corner, corner + random.rand(count, 2) * 8 + 0.1]).astype(np.float32)

    a, b = boxes(6), boxes(6)
    differences = {}
    for module, name in (
        (vision_boxes, "box_iou"),
        (vision_boxes, "complete_box_iou"),
        (vision_losses, "generalized_box_iou_loss"),
        (vision_losses, "complete_box_iou_loss"),
    ):
        ours, reference = getattr(module, name), getattr(theirs, name)
        first = torch.tensor(a, requires_grad=True)
        expected = reference(first, torch.tensor(b))
        expected.sum().backward()

        def total(x, y, ours=ours):
            return ours(x, y).sum()

        output = mindspore.jit(ours)(Tensor(a), Tensor(b)).asnumpy()
        gradient = mindspore.grad(total)(Tensor(a), Tensor(b)).asnumpy()
        differences[name] = float(np.abs(output - expected.detach().numpy()).max())
        differences[f"{name} gradient"] = float(np.abs(gradient - first.grad.numpy()).max())
    # torchvision's own Python form stands in for the operator that CPU wheels lack.
    reference = sys.modules["torchvision.ops.roi_align"]._roi_align
    image = random.randn(2, 3, 16, 16).astype(np.float32)
    rois = np.array([[0, 1.5, 2.2, 10.3, 12.7], [1, 0, 0, 15, 15], [1, 4, 4, 4.5, 4.4]], np.float32)
    for aligned in (False, True):
        expected = reference(torch.tensor(image), torch.tensor(rois), 0.5, 4, 5, 2, aligned)
        found = roi_align(Tensor(image), Tensor(rois), (4, 5), 0.5, 2, aligned).asnumpy()
        differences[f"roi_align {aligned}"] = float(np.abs(found - expected.numpy()).max())
    return differences


def weights_and_layers():
    import mindspore
    import numpy as np
    from mindspore import Tensor, nn

    from migrate.emit.helpers import vision_models as models

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3)
            self.layer1 = nn.SequentialCell(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4))
            self.fc = nn.Dense(4, 2)

    class Net_Weights(models.WeightsEnum):
        V1 = models.Weights("https://host/net.pth", int, {"categories": models.ClassCount(7)})
        DEFAULT = V1

    @models.register_model()
    @models.handle_legacy_interface(weights=("pretrained", Net_Weights.V1))
    def net(*, weights=None, **options):
        weights = Net_Weights.verify(weights)
        if weights is not None:
            models.overwrite_named_param(options, "num_classes", len(weights.meta["categories"]))
        return weights, options

    answers = {
        "plain": net() == (None, {}),
        "legacy": net(pretrained=True) == (Net_Weights.V1, {"num_classes": 7}),
        "by name": net(weights="DEFAULT")[0] is Net_Weights.V1,
        "listed": models.list_models(include="n*") == ["net"],
    }
    try:
        Net_Weights.V1.get_state_dict()
    except NotImplementedError as error:
        answers["says how to convert"] = "ms-migrate weights" in str(error)
    getter = models.IntermediateLayerGetter(Net(), {"layer1": "out"})
    x = Tensor(np.ones((1, 3, 5, 5), np.float32))
    both = getter(x)["out"].asnumpy(), mindspore.jit(getter)(x)["out"].asnumpy()
    answers["same in both modes"] = bool(np.allclose(*both, atol=1e-6))
    names = [p.name for p in getter.get_parameters()]
    answers["names"] = names[:2] == ["conv1.weight", "layer1.0.weight"] and len(names) == 6
    return answers


def transform_differences():
    import numpy as np
    from mindspore.dataset import vision
    from PIL import Image

    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    import torchvision.transforms as theirs

    from migrate.emit.helpers import data_geometry, data_transforms, vision_presets

    pixels = np.random.RandomState(0).randint(0, 256, (50, 71, 3), np.uint8)
    image = Image.fromarray(pixels)
    mean, std = (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)
    pairs = {
        "pipeline": (
            theirs.Compose(
                [
                    theirs.Resize(32),
                    theirs.CenterCrop(28),
                    theirs.RandomHorizontalFlip(p=1.0),
                    theirs.ToTensor(),
                    theirs.Normalize(mean, std),
                ]
            ),
            data_transforms.Compose(
                [
                    vision.Resize(32),
                    vision.CenterCrop(28),
                    vision.RandomHorizontalFlip(prob=1.0),
                    vision.ToTensor(),
                    vision.Normalize(mean, std, is_hwc=False),
                ]
            ),
        ),
        "jitter": (
            theirs.ColorJitter(contrast=(1.5, 1.5)),
            data_transforms.ColorJitter(contrast=(1.5, 1.5)),
        ),
        "hue": (theirs.ColorJitter(hue=(0.2, 0.2)), data_transforms.ColorJitter(hue=(0.2, 0.2))),
        "affine": (
            theirs.RandomAffine((30, 30), scale=(1.2, 1.2), shear=(5, 5, 6, 6)),
            data_geometry.RandomAffine((30, 30), scale=(1.2, 1.2), shear=(5, 5, 6, 6)),
        ),
        "rotation": (theirs.RandomRotation((30, 30)), vision.RandomRotation((30, 30))),
        "preset": (
            theirs._presets.ImageClassification(crop_size=24, resize_size=30),
            vision_presets.ImageClassification(crop_size=24, resize_size=30),
        ),
    }
    differences = {}
    for name, (reference, ours) in pairs.items():
        expected, found = np.asarray(reference(image)), ours(image)
        found = found.asnumpy() if hasattr(found, "asnumpy") else np.asarray(found)
        gap = np.abs(expected.astype(np.float64) - found.astype(np.float64)).max()
        differences[name] = float(gap) if expected.shape == found.shape else float("inf")
    try:
        data_transforms.Compose([vision.ToTensor(), vision.RandomHorizontalFlip()])
        differences["order is checked"] = float("inf")
    except TypeError:
        differences["order is checked"] = 0.0
    return differences | mixing_differences()


def mixing_differences():
    """AugMix's changes one by one, and batches mixed with the same draws."""
    import random

    import numpy as np
    import torch
    from mindspore import Tensor
    from mindspore.dataset import vision
    from PIL import Image

    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    from torchvision.transforms import AugMix, InterpolationMode, v2
    from torchvision.transforms.autoaugment import _apply_op

    from migrate.emit.helpers import data_augmix, data_mixing

    rng = np.random.RandomState(0)
    image = Image.fromarray(rng.randint(0, 256, (50, 71, 3), np.uint8))
    ours = data_augmix.AugMix(interpolation=vision.Inter.BILINEAR, fill=9)
    differences = {}
    for kind, (levels, signed) in AugMix()._augmentation_space(10, (50, 71)).items():
        amount = float(levels[2]) if levels.ndim else 0.0
        for sign in (1, -1) if signed else (1,):
            given = (image, kind, sign * amount)
            expected = _apply_op(*given, InterpolationMode.BILINEAR, [9.0] * 3)
            found = np.asarray(ours._changed(*given), np.float64)
            differences[f"{kind} {sign}"] = float(np.abs(np.asarray(expected) - found).max())
    # A dictionary of changes, none of them stronger than torchvision's at this severity.
    drawn = {ours._drawn((71, 50)) for _ in range(2000)}
    space = AugMix()._augmentation_space(10, (50, 71))
    differences["kinds"] = float({kind for kind, _ in drawn} != set(space))
    for kind, amount in drawn:
        levels, signed = space[kind]
        allowed = levels[:3].tolist() if levels.ndim else [0.0]
        nearest = min(abs((abs(amount) if signed else amount) - level) for level in allowed)
        differences[f"strength of {kind}"] = float(nearest > 1e-4)
    mixed = ours(image)
    differences["mixed"] = float(mixed.size != image.size or mixed.mode != image.mode)
    images, labels = rng.rand(4, 3, 9, 7).astype(np.float32), np.array([0, 2, 1, 3])
    for name in ("MixUp", "CutMix"):
        theirs = getattr(v2, name)(alpha=0.7, num_classes=4)
        share = 0.3
        theirs._dist.sample = lambda shape, share=share: torch.tensor([share])
        if name == "CutMix":  # the same place
            torch.manual_seed(1)
            column, row = (int(torch.randint(most, (1,))) for most in (7, 9))
            torch.manual_seed(1)
            random.randrange = lambda most, row=row, column=column: row if most == 9 else column
        random.betavariate = lambda a, b, share=share: share
        expected = theirs(torch.from_numpy(images), torch.from_numpy(labels))
        found = getattr(data_mixing, name)(alpha=0.7, num_classes=4)(Tensor(images), Tensor(labels))
        for part, reference, own in zip(("images", "labels"), expected, found, strict=True):
            gap = np.abs(reference.numpy() - own.asnumpy()).max()
            differences[f"{name} {part}"] = float(gap)
    return differences
