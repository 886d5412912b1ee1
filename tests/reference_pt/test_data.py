"""What the loaders hand out: right pixels, right labels, every sample once."""

from argparse import Namespace

import numpy as np
import pytest

pytestmark = pytest.mark.frameworks


def options(**changes):
    given = {
        "data": "synthetic",
        "data_dir": "",
        "num_classes": 10,
        "image_size": 8,
        "samples": 24,
        "batch_size": 4,
        "workers": 0,
        "shuffle": True,
        "augment": True,
        "seed": 5,
    }
    return Namespace(**{**given, **changes})


@pytest.fixture
def vision():
    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()


def test_cifar10_reads_planes_as_pixels(load, cifar10):
    root, train, test = cifar10
    data = load("data")
    dataset = data.Cifar10Binary(root, train=True)
    assert len(dataset) == 40
    image, label = dataset[23]
    assert label == train[23, 0]
    np.testing.assert_array_equal(image, train[23, 1:].reshape(3, 32, 32).transpose(1, 2, 0))
    assert len(data.Cifar10Binary(root, train=False)) == len(test)


def test_cifar10_normalises_without_augmentation(load, cifar10, vision):
    root, _, test = cifar10
    data = load("data")
    image, _ = data.Cifar10Binary(root, False, data.cifar10_transform(augment=False))[4]
    pixels = test[4, 1:].reshape(3, 32, 32).astype(np.float32) / 255
    mean = np.array(data.CIFAR10_MEAN, np.float32).reshape(3, 1, 1)
    std = np.array(data.CIFAR10_STD, np.float32).reshape(3, 1, 1)
    np.testing.assert_allclose(image.numpy(), (pixels - mean) / std, rtol=1e-5, atol=1e-6)


def test_cifar10_augmentation_shifts_by_at_most_four_and_mirrors(load, cifar10, vision):
    import torch

    root, _, _ = cifar10
    data = load("data")
    plain = data.Cifar10Binary(root, True, data.cifar10_transform(augment=False))[0][0]
    black = data.cifar10_transform(augment=False)(np.zeros((32, 32, 3), np.uint8))
    padded = black[:, :1, :1].repeat(1, 40, 40)
    padded[:, 4:36, 4:36] = plain
    shifts = [
        crop
        for down in range(9)
        for right in range(9)
        for crop in (
            padded[:, down : down + 32, right : right + 32],
            padded[:, down : down + 32, right : right + 32].flip(2),
        )
    ]
    augmented = data.Cifar10Binary(root, True, data.cifar10_transform(augment=True))
    seen = set()
    for _ in range(12):
        image, _ = augmented[0]
        seen.add(next(at for at, shift in enumerate(shifts) if torch.equal(shift, image)))
    assert len(seen) > 3


def test_cifar10_refuses_missing_and_cut_files(load, tmp_path):
    data = load("data")
    with pytest.raises(FileNotFoundError, match="no data_batch files"):
        data.Cifar10Binary(tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(b"x" * 4000)
    with pytest.raises(ValueError, match="4000 bytes are not records of 3073 bytes"):
        data.Cifar10Binary(tmp_path)


def test_imagenet_evaluation_is_resize_256_centre_crop_224_normalise(load, image_folder, vision):
    from PIL import Image

    data = load("data")
    dataset = data.imagenet(image_folder, train=False, augment=False)
    assert dataset.classes == ["cat", "dog"]
    image, label = dataset[4]
    assert label == 1
    path, _ = dataset.samples[4]
    with Image.open(path) as picture:
        width, height = picture.size
        scale = 256 / min(width, height)
        size = (int(width * scale), int(height * scale))
        small = np.asarray(picture.convert("RGB").resize(size, Image.Resampling.BILINEAR))
    top, left = round((size[1] - 224) / 2), round((size[0] - 224) / 2)
    crop = small[top : top + 224, left : left + 224].astype(np.float32) / 255
    expected = (crop - np.float32(data.IMAGENET_MEAN)) / np.float32(data.IMAGENET_STD)
    np.testing.assert_allclose(image.numpy(), expected.transpose(2, 0, 1), atol=1e-5)


def test_imagenet_training_crops_differ(load, image_folder, vision):
    import torch

    dataset = load("data").imagenet(image_folder, train=True, augment=True)
    first, again = dataset[0][0], dataset[0][0]
    assert first.shape == (3, 224, 224)
    assert not torch.equal(first, again)


def test_synthetic_samples_depend_on_seed_and_index_alone(load):
    import torch

    data = load("data")
    images = data.SyntheticImages(30, 8, 10, seed=1)
    assert torch.equal(images[7][0], data.SyntheticImages(99, 8, 10, seed=1)[7][0])
    assert not torch.equal(images[7][0], data.SyntheticImages(30, 8, 10, seed=2)[7][0])
    assert not torch.equal(images[7][0], images[17][0])
    assert images[7][1] == images[17][1] == 7
    assert len(list(images)) == 30


def test_two_processes_share_out_every_sample_once(load):
    data = load("data")

    def seen(train, rank):
        loader = data.build_loader(options(), train, rank, world_size=2)
        return [image.numpy().tobytes() for batch, _ in loader for image in batch]

    for train in (True, False):
        whole = data.build_loader(options(shuffle=False), train)
        everything = [image.numpy().tobytes() for batch, _ in whole for image in batch]
        shards = seen(train, 0) + seen(train, 1)
        assert len(everything) == 24
        assert sorted(shards) == sorted(everything)


def test_an_uneven_test_split_is_shared_out_without_repeats(load):
    data = load("data")
    sizes = [
        sum(len(batch) for batch, _ in data.build_loader(options(samples=7), False, rank, 3))
        for rank in range(3)
    ]
    assert sizes == [3, 2, 2]


def test_worker_processes_give_the_same_batches(load):
    import torch

    data = load("data")
    plain = list(data.build_loader(options(shuffle=False), True))
    loaded = list(data.build_loader(options(shuffle=False, workers=1), True))
    assert len(plain) == len(loaded) == 6
    assert all(torch.equal(a[0], b[0]) for a, b in zip(plain, loaded, strict=True))
