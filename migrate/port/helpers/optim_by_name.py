"""torch.optim and its schedules as objects, for programs that look them up by a name."""

from mindspore.experimental.optim import lr_scheduler

from migrate.port.helpers.optim_adadelta import Adadelta
from migrate.port.helpers.optim_adafactor import Adafactor
from migrate.port.helpers.optim_adagrad import Adagrad
from migrate.port.helpers.optim_adam import Adam, AdamW
from migrate.port.helpers.optim_adamax import Adamax
from migrate.port.helpers.optim_asgd import ASGD
from migrate.port.helpers.optim_muon import Muon
from migrate.port.helpers.optim_nadam import NAdam
from migrate.port.helpers.optim_radam import RAdam
from migrate.port.helpers.optim_rmsprop import RMSprop
from migrate.port.helpers.optim_rprop import Rprop
from migrate.port.helpers.optim_schedules import (
    ChainedScheduler,
    CyclicLR,
    LambdaLR,
    MultiplicativeLR,
    OneCycleLR,
)
from migrate.port.helpers.optim_sgd import SGD


class schedules_by_name:
    """torch.optim.lr_scheduler: `getattr(schedules_by_name, "StepLR")`."""

    ChainedScheduler = ChainedScheduler
    ConstantLR = lr_scheduler.ConstantLR
    CosineAnnealingLR = lr_scheduler.CosineAnnealingLR
    CosineAnnealingWarmRestarts = lr_scheduler.CosineAnnealingWarmRestarts
    CyclicLR = CyclicLR
    ExponentialLR = lr_scheduler.ExponentialLR
    LambdaLR = LambdaLR
    LinearLR = lr_scheduler.LinearLR
    MultiStepLR = lr_scheduler.MultiStepLR
    MultiplicativeLR = MultiplicativeLR
    OneCycleLR = OneCycleLR
    PolynomialLR = lr_scheduler.PolynomialLR
    ReduceLROnPlateau = lr_scheduler.ReduceLROnPlateau
    SequentialLR = lr_scheduler.SequentialLR
    StepLR = lr_scheduler.StepLR


class optimizers_by_name:
    """torch.optim: `getattr(optimizers_by_name, "SGD")`."""

    ASGD = ASGD
    Adadelta = Adadelta
    Adafactor = Adafactor
    Adagrad = Adagrad
    Adam = Adam
    AdamW = AdamW
    Adamax = Adamax
    Muon = Muon
    NAdam = NAdam
    RAdam = RAdam
    RMSprop = RMSprop
    Rprop = Rprop
    SGD = SGD
