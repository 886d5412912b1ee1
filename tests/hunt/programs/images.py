# %% [13] the usual training pipeline on PIL images
from PIL import Image
from torchvision import transforms as T

def run():
    img = Image.fromarray((np.arange(300) * 7 % 256).astype(np.uint8).reshape(10, 10, 3))
    tf = T.Compose([T.Resize(8), T.CenterCrop(6), T.ToTensor(), T.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))])
    return tf(img), T.Resize((4, 6))(img).size, np.asarray(T.Grayscale()(img)), T.Pad(2)(img).size, len(tf.transforms)

# %% [13] Resize with an interpolation
from PIL import Image
from torchvision import transforms
from torchvision.transforms import InterpolationMode

def run():
    img = Image.fromarray((np.arange(300) * 7 % 256).astype(np.uint8).reshape(10, 10, 3))
    return [np.asarray(transforms.Resize(5, i)(img)) for i in (Image.BICUBIC, Image.NEAREST, InterpolationMode.BILINEAR)], np.asarray(transforms.Resize((5, 5), interpolation=InterpolationMode.BICUBIC)(img)), np.asarray(transforms.Resize(20, 2)(img)).shape

# %% [13] functional on PIL images
from PIL import Image
import torchvision.transforms.functional as TF

def run():
    img = Image.fromarray((np.arange(108) * 7 % 256).astype(np.uint8).reshape(6, 6, 3))
    t = TF.to_tensor(img)
    return t, np.asarray(TF.hflip(img)), np.asarray(TF.crop(img, 1, 2, 3, 3)), np.asarray(TF.resize(img, (3, 3))), np.asarray(TF.to_pil_image(t)), TF.normalize(t, [0.5] * 3, [0.2] * 3), np.asarray(TF.adjust_brightness(img, 1.5)), np.asarray(TF.rotate(img, 90)), TF.pil_to_tensor(img)

# %% [13] functional on tensors
import torchvision.transforms.functional as TF

def run():
    x = data(3, 6, 6).abs()
    return TF.hflip(x), TF.vflip(x), TF.crop(x, 1, 1, 3, 3), TF.center_crop(x, [4, 4]), TF.pad(x, [1, 2]), TF.normalize(x, [0.1] * 3, [0.5] * 3), TF.rgb_to_grayscale(x), TF.resize(x, [3, 3], antialias=True), TF.adjust_brightness(x.clamp(0, 1), 0.5)

# %% [13] colour functions on tensors
import torchvision.transforms.functional as TF

def run():
    x = torch.sigmoid(data(3, 4, 4))
    return TF.adjust_contrast(x, 1.5), TF.adjust_saturation(x, 0.5), TF.invert(x), TF.adjust_gamma(x, 2.0), TF.solarize(x, 0.5), TF.gaussian_blur(x, [3, 3], [1.0, 1.0]), TF.erase(x, 1, 1, 2, 2, torch.zeros(1))

# %% [13] ToPILImage and back
from PIL import Image
from torchvision import transforms

def run():
    x = torch.sigmoid(data(3, 4, 5))
    img = transforms.ToPILImage()(x)
    u = (x * 255).byte()
    return img.size, img.mode, np.asarray(img), np.asarray(transforms.ToPILImage()(u)), transforms.ToPILImage(mode="L")(x[:1]).mode, transforms.ToTensor()(img), np.asarray(transforms.ToPILImage()(u.permute(1, 2, 0).numpy()))

# %% [13] random transforms with certain outcomes
from PIL import Image
from torchvision import transforms

def run():
    img = Image.fromarray((np.arange(48) * 5).astype(np.uint8).reshape(4, 4, 3))
    t = transforms.Compose([transforms.RandomHorizontalFlip(p=1), transforms.RandomApply([transforms.Pad(1)], p=1.0), transforms.RandomGrayscale(p=0), transforms.ToTensor()])
    a = transforms.RandomChoice([transforms.RandomVerticalFlip(1.0)])(img)
    b = transforms.RandomOrder([transforms.ToTensor()])(img)
    return t(img), np.asarray(a), b, transforms.RandomCrop(4, padding=0)(img).size, transforms.RandomResizedCrop(3)(img).size, transforms.ColorJitter(0, 0, 0, 0)(img).size, transforms.RandomRotation(0)(img).size, transforms.FiveCrop(2)(img)[4].size

# %% [13] Lambda and callables of one's own
from PIL import Image
from torchvision import transforms

class AddNoise:
    def __init__(self, s):
        self.s = s

    def __call__(self, t):
        return t + self.s

    def __repr__(self):
        return f"AddNoise({self.s})"

def run():
    a = np.arange(16, dtype=np.uint8).reshape(4, 4) * 10
    tf = transforms.Compose([transforms.ToPILImage(), transforms.ToTensor(), AddNoise(0.5), transforms.Lambda(lambda t: t.view(-1)), transforms.Lambda(lambda t: (t * 255).round().long())])
    return tf(a), tf.transforms[0:1] != [], transforms.Lambda(lambda v: v * 2)(torch.ones(2))

# %% [13] Normalize by tensors, lists and in batches
from torchvision import transforms

def run():
    x = data(2, 3, 4, 4)
    n = transforms.Normalize(mean=[0.1, 0.2, 0.3], std=[0.5, 0.6, 0.7])
    inv = transforms.Normalize(mean=[-m / s for m, s in zip(n.mean, n.std)], std=[1 / s for s in n.std])
    return n(x), n(x[0]), inv(n(x[0])), transforms.Normalize((0.5,), (0.5,))(x[:, :1]), n.mean, n.std

# %% [13] the v2 names
import torchvision.transforms.v2 as v2
from PIL import Image

def run():
    img = Image.fromarray((np.arange(300) * 7 % 256).astype(np.uint8).reshape(10, 10, 3))
    tf = v2.Compose([v2.Resize((6, 6)), v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.5] * 3)])
    x = torch.sigmoid(data(3, 8, 8))
    return tf(img), v2.CenterCrop(4)(x), v2.RandomHorizontalFlip(p=1.0)(x), v2.Resize((4, 4), antialias=True)(x), v2.Grayscale()(x)

# %% [13] masks and images together
from PIL import Image
import torchvision.transforms as T
import torchvision.transforms.functional as TF
import random

class Joint:
    def __call__(self, img, mask):
        if random.random() < 2:
            img, mask = TF.hflip(img), TF.hflip(mask)
        i, j, h, w = 1, 1, 4, 4
        img, mask = TF.crop(img, i, j, h, w), TF.crop(mask, i, j, h, w)
        mask = TF.resize(mask, [2, 2], T.InterpolationMode.NEAREST)
        return TF.to_tensor(img), torch.from_numpy(np.array(mask)).long()

def run():
    img = Image.fromarray((np.arange(108) * 2).astype(np.uint8).reshape(6, 6, 3))
    mask = Image.fromarray((np.arange(36) % 4).astype(np.uint8).reshape(6, 6))
    return Joint()(img, mask), torch.as_tensor(np.array(mask), dtype=torch.int64).unique()

# %% [13] a transform on a uint8 tensor
from torchvision import transforms
from torchvision.transforms import functional as TF

def run():
    u = torch.tensor((np.arange(48) * 5).astype(np.uint8).reshape(3, 4, 4))
    return transforms.ConvertImageDtype(torch.float32)(u), TF.hflip(u), transforms.Pad(1, fill=3)(u), transforms.CenterCrop(2)(u), TF.convert_image_dtype(u, torch.float32), transforms.Resize(2, interpolation=transforms.InterpolationMode.NEAREST)(u), TF.rgb_to_grayscale(u), TF.adjust_brightness(u, 2.0), TF.invert(u)

# %% [13] make_grid and saved images
import torchvision
from torchvision.utils import make_grid, save_image
from PIL import Image

def run():
    x = torch.sigmoid(data(5, 1, 3, 3))
    g = make_grid(x, nrow=3, padding=1)
    save_image(g, "grid.png")
    back = np.asarray(Image.open("grid.png"))
    return g, torchvision.utils.make_grid(data(2, 3, 2, 2), normalize=True), back, make_grid(x, nrow=2, normalize=True, value_range=(0, 1), pad_value=1).shape

# %% [13] a folder of images
import os
from PIL import Image
from torchvision import datasets, transforms
from torch.utils.data import DataLoader

def run():
    for c in ("cat", "dog"):
        os.makedirs(os.path.join("pics", c), exist_ok=True)
        for k in range(2):
            Image.fromarray(np.full((6, 6, 3), 40 * k + len(c), dtype=np.uint8)).save(os.path.join("pics", c, f"{k}.png"))
    ds = datasets.ImageFolder("pics", transform=transforms.Compose([transforms.Resize((4, 4)), transforms.ToTensor()]))
    x, y = next(iter(DataLoader(ds, batch_size=4)))
    return x, y, ds.classes, ds.class_to_idx, len(ds), ds.targets, [os.path.basename(p) for p, _ in ds.samples], ds[2][1]

# %% [13] MNIST from files by hand
import gzip
import os
import struct
from torchvision import datasets, transforms

def write(folder):
    raw = os.path.join(folder, "MNIST", "raw")
    os.makedirs(raw, exist_ok=True)
    for part in ("train", "t10k"):
        img = (np.arange(3 * 28 * 28) % 251).astype(np.uint8).reshape(3, 28, 28)
        with open(os.path.join(raw, f"{part}-images-idx3-ubyte"), "wb") as f:
            f.write(struct.pack(">IIII", 2051, 3, 28, 28) + img.tobytes())
        with open(os.path.join(raw, f"{part}-labels-idx1-ubyte"), "wb") as f:
            f.write(struct.pack(">II", 2049, 3) + bytes([7, 2, 1]))

def run():
    write("d")
    ds = datasets.MNIST("d", train=True, transform=transforms.ToTensor())
    x, y = ds[0]
    imgs = ds.data.float() / 255
    keep = ds.targets == 2
    return x.shape, x.mean(), y, ds.data.shape, ds.targets, imgs.mean(), ds.data[keep].shape, ds.data.unsqueeze(1).size(), len(ds), ds.data.dtype, ds.data.view(-1, 784).float().std()


# %% [13] FakeData and a split
from torchvision import datasets, transforms
from torch.utils.data import DataLoader, random_split

def run():
    ds = datasets.FakeData(size=6, image_size=(3, 4, 4), num_classes=3, transform=transforms.ToTensor())
    x, y = next(iter(DataLoader(ds, batch_size=4)))
    return x.shape, x.dtype, y.dtype, len(ds), bool(x.max() <= 1)

# %% [13] Cutout on tensors and arrays
class Cutout(object):
    def __init__(self, length):
        self.length = length

    def __call__(self, img):
        h, w = img.size(1), img.size(2)
        mask = np.ones((h, w), np.float32)
        y, x = 2, 3
        y1, y2 = np.clip(y - self.length // 2, 0, h), np.clip(y + self.length // 2, 0, h)
        x1, x2 = np.clip(x - self.length // 2, 0, w), np.clip(x + self.length // 2, 0, w)
        mask[y1:y2, x1:x2] = 0.0
        mask = torch.from_numpy(mask)
        mask = mask.expand_as(img)
        img *= mask
        return img

def run():
    return Cutout(2)(torch.ones(3, 5, 5))

# %% [13] RandomErasing and TenCrop
from torchvision import transforms

def run():
    x = torch.ones(3, 6, 6)
    e = transforms.RandomErasing(p=1.0, scale=(0.2, 0.3), value=0)(x)
    five = transforms.FiveCrop(4)(x)
    crops = transforms.Lambda(lambda cs: torch.stack([c for c in cs]))(five)
    return bool((e == 0).any()), crops.shape, len(transforms.TenCrop(3)(x)), transforms.RandomErasing(p=0.0)(x).sum()
