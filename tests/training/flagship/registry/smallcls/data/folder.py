"""Images in a folder for each class."""

import os

from torch.utils.data import Dataset

from .builder import DATASETS
from .pipelines import Compose


@DATASETS.register_module()
class FolderDataset(Dataset):
    def __init__(self, root, pipeline):
        self.root = root
        self.pipeline = Compose(pipeline)
        self.CLASSES = sorted(e.name for e in os.scandir(root) if e.is_dir())
        self.data_infos = [
            {"filename": os.path.join(root, name, file), "gt_label": label}
            for label, name in enumerate(self.CLASSES)
            for file in sorted(os.listdir(os.path.join(root, name)))
        ]

    def __len__(self):
        return len(self.data_infos)

    def __getitem__(self, idx):
        return self.pipeline(dict(self.data_infos[idx]))
