from .densenet import *
from .resnet import *
from .vgg import *
