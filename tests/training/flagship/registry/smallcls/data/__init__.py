from .builder import DATASETS, PIPELINES, build_dataloader, build_dataset
from .folder import FolderDataset
from .pipelines import LoadImage, Normalize, RandomFlip, Resize, ToTensor

__all__ = ["DATASETS", "PIPELINES", "build_dataloader", "build_dataset"]
