"""torch.optim and its schedules as objects, for programs that look them up by a name."""

from mindspore.experimental.optim import lr_scheduler

from migrate.emit.helpers.optim_adadelta import Adadelta
from migrate.emit.helpers.optim_adafactor import Adafactor
from migrate.emit.helpers.optim_adagrad import Adagrad
from migrate.emit.helpers.optim_adam import Adam, AdamW
from migrate.emit.helpers.optim_adamax import Adamax
from migrate.emit.helpers.optim_asgd import ASGD
from migrate.emit.helpers.optim_lbfgs import LBFGS
from migrate.emit.helpers.optim_muon import Muon
from migrate.emit.helpers.optim_nadam import NAdam
from migrate.emit.helpers.optim_radam import RAdam
from migrate.emit.helpers.optim_rmsprop import RMSprop
from migrate.emit.helpers.optim_rprop import Rprop
from migrate.emit.helpers.optim_schedules import (
    ChainedScheduler,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    LambdaLR,
    MultiplicativeLR,
    OneCycleLR,
)
from migrate.emit.helpers.optim_sgd import SGD


class schedules_by_name:
    """torch.optim.lr_scheduler: `getattr(schedules_by_name, "StepLR")`."""

    ChainedScheduler = ChainedScheduler
    ConstantLR = lr_scheduler.ConstantLR
    CosineAnnealingLR = lr_scheduler.CosineAnnealingLR
    CosineAnnealingWarmRestarts = CosineAnnealingWarmRestarts
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
    LBFGS = LBFGS
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
