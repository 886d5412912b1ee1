"""The reference networks have torchvision's names and shapes and, bit by bit, its numbers."""

from functools import partial

import pytest

pytestmark = pytest.mark.frameworks

ARCHITECTURES = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152"]


def torchvision_models():
    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    from torchvision import models

    return models


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_state_dict_has_torchvisions_names_order_and_shapes(load, name):
    import torch

    with torch.device("meta"):  # shapes without the cost of the weights
        ours = getattr(load("resnet"), name)()
        theirs = getattr(torchvision_models(), name)()

    def layout(model):
        return [(key, tuple(value.shape)) for key, value in model.state_dict().items()]

    assert layout(ours) == layout(theirs)
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
@pytest.mark.parametrize("training", [False, True])
def test_same_weights_give_the_same_output_and_gradients(load, name, training):
    import torch

    theirs = getattr(torchvision_models(), name)(num_classes=10).train(training)
    ours = getattr(load("resnet"), name)(num_classes=10).train(training)
    ours.load_state_dict(theirs.state_dict(), strict=True)
    images = torch.randn(2, 3, 64, 64)
    outputs = ours(images), theirs(images)
    assert torch.equal(*outputs)
    for output in outputs:
        output.square().sum().backward()
    for (key, mine), (_, other) in zip(
        ours.named_parameters(), theirs.named_parameters(), strict=True
    ):
        assert torch.equal(mine.grad, other.grad), key
    for (key, mine), (_, other) in zip(ours.named_buffers(), theirs.named_buffers(), strict=True):
        assert torch.equal(mine, other), key


def test_norm_layer_may_be_a_class_or_a_partial(load):
    import torch
    from torch import nn

    resnet = load("resnet")
    images = torch.randn(2, 3, 64, 64)
    frozen = resnet.resnet18(num_classes=3, norm_layer=partial(nn.BatchNorm2d, affine=False))
    assert frozen.bn1.weight is None
    grouped = resnet.resnet18(num_classes=3, norm_layer=partial(nn.GroupNorm, 8))
    assert not any(isinstance(module, nn.BatchNorm2d) for module in grouped.modules())
    instance = resnet.resnet18(num_classes=3, norm_layer=nn.InstanceNorm2d).eval()
    for model in (grouped, instance):
        assert model(images).shape == (2, 3)


def test_initialisation(load):
    import torch
    from torch import nn

    resnet = load("resnet")
    model = resnet.resnet50(num_classes=10)
    blocks = [module for module in model.modules() if isinstance(module, resnet.Bottleneck)]
    assert len(blocks) == 16
    assert all(torch.count_nonzero(block.bn3.weight) == 0 for block in blocks)
    assert all(torch.all(block.bn2.weight == 1) for block in blocks)
    # kaiming, fan_out, relu: variance 2 / (out_channels * kernel area)
    kernel = model.layer4[0].conv2.weight
    assert kernel.std().item() == pytest.approx((2 / (512 * 9)) ** 0.5, rel=0.01)
    plain = resnet.ResNet(resnet.BasicBlock, (1, 1, 1, 1), zero_init_residual=False)
    assert torch.all(plain.layer1[0].bn2.weight == 1)
    assert all(conv.bias is None for conv in plain.modules() if isinstance(conv, nn.Conv2d))


def test_bottleneck_strides_in_its_3x3(load):
    block = load("resnet").resnet50(num_classes=2).layer2[0]
    assert block.conv1.stride == (1, 1)
    assert block.conv2.stride == (2, 2)


def test_lenet(load):
    import torch

    lenet = load("lenet")
    model = lenet.lenet5()
    assert sum(parameter.numel() for parameter in model.parameters()) == 62_006
    assert model(torch.randn(4, 3, 32, 32)).shape == (4, 10)
    bound = (6 / (400 + 120)) ** 0.5  # xavier
    assert model.fc1.weight.abs().max().item() <= bound
    assert model.fc1.weight.abs().max().item() > 0.95 * bound
    assert torch.count_nonzero(model.fc1.bias) == 0
