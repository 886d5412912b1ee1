from .builder import BACKBONES, CLASSIFIERS, HEADS, LOSSES, NECKS, build_classifier
from .classifier import ImageClassifier
from .heads import LinearClsHead
from .losses import CrossEntropyLoss, LabelSmoothLoss
from .necks import GlobalAveragePooling
from .resnet import TinyResNet

__all__ = ["BACKBONES", "CLASSIFIERS", "HEADS", "LOSSES", "NECKS", "build_classifier"]
