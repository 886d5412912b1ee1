# %% [13] ToTensor of a float array
from torchvision import transforms

def run():
    a = np.random.RandomState(0).rand(4, 4, 3).astype("float32") * 10
    return transforms.ToTensor()(a)

# %% [13] ToTensor of images of mode I, F and 1
from PIL import Image
from torchvision import transforms

def run():
    t = transforms.ToTensor()
    i = Image.fromarray(np.arange(12, dtype=np.int32).reshape(3, 4) * 100, mode="I")
    f = Image.fromarray(np.arange(12, dtype=np.float32).reshape(3, 4) / 3, mode="F")
    one = Image.fromarray(np.eye(4, dtype=bool))
    return t(i), t(f), t(one)

# %% [13] ToTensor of uint8 images
from PIL import Image
from torchvision import transforms

def run():
    a = (np.arange(48) * 5).astype(np.uint8).reshape(4, 4, 3)
    return transforms.ToTensor()(a), transforms.ToTensor()(Image.fromarray(a)), transforms.ToTensor()(a[:, :, 0])

# %% [13] CenterCrop larger than an odd image
from PIL import Image
from torchvision import transforms

def run():
    a = Image.fromarray((np.arange(75) * 3).astype(np.uint8).reshape(5, 5, 3))
    return np.asarray(transforms.CenterCrop(8)(a)), np.asarray(transforms.CenterCrop(3)(a)), np.asarray(transforms.CenterCrop((2, 4))(a))

# %% [13] Resize on a tensor
from torchvision import transforms

def run():
    return transforms.Resize(4, antialias=True)(data(3, 8, 8)), transforms.Resize((4, 6), antialias=True)(data(1, 3, 8, 8)).shape

# %% [13] flips on a tensor
from torchvision import transforms

def run():
    x = data(3, 4, 4)
    return transforms.RandomHorizontalFlip(p=1.0)(x), transforms.RandomVerticalFlip(1.0)(x), transforms.RandomHorizontalFlip(0.0)(x)

# %% [13] crops on a tensor
from torchvision import transforms

def run():
    x = data(3, 6, 6)
    return transforms.CenterCrop(4)(x), transforms.RandomCrop(4)(x).shape, transforms.Pad(1)(x)

# %% [13] Grayscale on a tensor
from torchvision import transforms

def run():
    return transforms.Grayscale()(data(3, 4, 4).abs())

# %% [13] rotate on a tensor
from torchvision import transforms

def run():
    return transforms.functional.rotate(data(1, 4, 4), 90)

# %% [13] Normalize and Compose
from torchvision import transforms

def run():
    t = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
    a = (np.arange(16) * 10).astype(np.uint8).reshape(4, 4)
    return t(a), transforms.Normalize([0.1, 0.2, 0.3], [1, 2, 3])(data(3, 2, 2))

# %% [25] Resize with Image.BICUBIC
from PIL import Image
from torchvision import transforms

def run():
    a = Image.fromarray((np.arange(300) % 255).astype(np.uint8).reshape(10, 10, 3))
    return np.asarray(transforms.Resize(5, Image.BICUBIC)(a)), np.asarray(transforms.Resize((4, 4), interpolation=Image.NEAREST)(a))

# %% [25] Resize with InterpolationMode
from PIL import Image
from torchvision import transforms
from torchvision.transforms import InterpolationMode

def run():
    a = Image.fromarray((np.arange(300) % 255).astype(np.uint8).reshape(10, 10, 3))
    return np.asarray(transforms.Resize(5, interpolation=InterpolationMode.BICUBIC)(a)), np.asarray(transforms.Resize(5)(a))

# %% [13] Lambda, ToPILImage, RandomApply
from torchvision import transforms

def run():
    t = transforms.Compose([transforms.Lambda(lambda x: x * 2), transforms.Lambda(lambda x: x + 1)])
    p = transforms.ToPILImage()((data(3, 4, 4).abs().clamp(0, 1)))
    return t(data(2)), p.size, p.mode

# %% [13] functional transforms
from PIL import Image
import torchvision.transforms.functional as TF

def run():
    a = Image.fromarray((np.arange(108) * 2).astype(np.uint8).reshape(6, 6, 3))
    return TF.to_tensor(a), np.asarray(TF.hflip(a)), np.asarray(TF.crop(a, 1, 1, 3, 3)), np.asarray(TF.resize(a, [3, 3])), TF.normalize(data(3, 2, 2), [0.0] * 3, [2.0] * 3)

# %% [13] a transform class of the program's own
class AddNoise:
    def __init__(self, std):
        self.std = std

    def __call__(self, x):
        return x + self.std

from torchvision import transforms

def run():
    return transforms.Compose([transforms.ToTensor(), AddNoise(0.5)])(np.zeros((2, 2, 1), dtype=np.uint8))

# %% [25] one refused name beside transforms
import torchvision.transforms as T
from torchvision.utils import make_grid

def run():
    return T.ToTensor()(np.ones((2, 2, 1), dtype=np.uint8)), make_grid(data(4, 3, 2, 2), nrow=2).shape

# %% [13] ColorJitter and affine keep the size
from PIL import Image
from torchvision import transforms

def run():
    a = Image.fromarray((np.arange(108) * 2).astype(np.uint8).reshape(6, 6, 3))
    t = transforms.Compose([transforms.ColorJitter(0.1, 0.1, 0.1), transforms.RandomRotation(10), transforms.RandomResizedCrop(4), transforms.ToTensor()])
    return t(a).shape, t(a).dtype
