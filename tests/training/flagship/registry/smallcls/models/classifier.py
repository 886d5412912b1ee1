"""Backbone, neck and head."""

import torch.nn as nn

from .builder import CLASSIFIERS, build_backbone, build_head, build_neck


@CLASSIFIERS.register_module()
class ImageClassifier(nn.Module):
    def __init__(self, backbone, neck=None, head=None):
        super().__init__()
        self.backbone = build_backbone(backbone)
        self.neck = build_neck(neck) if neck is not None else None
        self.head = build_head(head) if head is not None else None

    def extract_feat(self, img):
        x = self.backbone(img)
        if self.neck is not None:
            x = self.neck(x)
        return x

    def forward(self, img, return_loss=True, **kwargs):
        if return_loss:
            return self.forward_train(img, **kwargs)
        return self.forward_test(img)

    def forward_train(self, img, gt_label):
        x = self.extract_feat(img)
        return self.head.forward_train(x, gt_label)

    def forward_test(self, img):
        return self.head.simple_test(self.extract_feat(img))
