"""Epochs of training and validation, with what the configuration asks for around them."""

import json
import os

import torch
import torch.nn as nn

from ..data import build_dataloader, build_dataset
from ..models import build_classifier
from .checkpoint import load_weights, save_checkpoint
from .dist_utils import get_dist_info, master_only
from .optimizers import build_optimizer, build_scheduler


class Runner:
    def __init__(self, cfg, work_dir, device=None, distributed=False):
        self.cfg = cfg
        self.work_dir = work_dir
        self.distributed = distributed
        self.rank, self.world_size = get_dist_info()
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        os.makedirs(work_dir, exist_ok=True)

        loader_cfg = cfg.data.loader
        self.train_loader = build_dataloader(
            build_dataset(cfg.data.train), **loader_cfg, training=True, dist=distributed
        )
        self.val_loader = build_dataloader(
            build_dataset(cfg.data.val), **loader_cfg, training=False, dist=distributed
        )

        model = build_classifier(cfg.model).to(self.device)
        if distributed:
            model = nn.parallel.DistributedDataParallel(model)
        self.model = model
        self.optimizer = build_optimizer(model, cfg.optimizer)
        self.scheduler = build_scheduler(self.optimizer, cfg.lr_config)
        self.fp16 = cfg.get("fp16") is not None
        scale = cfg.fp16["loss_scale"] if self.fp16 else 1.0
        self.scaler = torch.amp.GradScaler(
            self.device.type, init_scale=scale, growth_interval=4, enabled=self.fp16
        )
        self.epoch = 0
        self.iter = 0

    @master_only
    def log(self, **record):
        with open(os.path.join(self.work_dir, "log.jsonl"), "a") as stream:
            stream.write(json.dumps(record) + "\n")

    def run(self):
        while self.epoch < self.cfg.total_epochs:
            if self.distributed:
                self.train_loader.sampler.set_epoch(self.epoch)
            self.train_epoch()
            self.scheduler.step()
            self.val_epoch()
            self.epoch += 1
            if self.epoch % self.cfg.checkpoint_config.interval == 0:
                self.save()

    def train_epoch(self):
        self.model.train()
        clip = self.cfg.optimizer_config.get("grad_clip")
        for data in self.train_loader:
            img = data["img"].to(self.device)
            gt_label = data["gt_label"].to(self.device)
            with torch.autocast(self.device.type, dtype=torch.float16, enabled=self.fp16):
                losses = self.model(img, gt_label=gt_label)
                loss = losses["loss"]
            self.optimizer.zero_grad()
            self.scaler.scale(loss).backward()
            self.scaler.unscale_(self.optimizer)
            if clip is not None:
                params = [p for p in self.model.parameters() if p.requires_grad]
                nn.utils.clip_grad_norm_(params, **clip)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.iter += 1
            if self.iter % self.cfg.log_config.interval == 0:
                lr = self.optimizer.param_groups[0]["lr"]
                self.log(epoch=self.epoch, loss=loss.item(), lr=lr, scale=self.scaler.get_scale())

    def val_epoch(self):
        self.model.eval()
        hits, count = 0, 0
        bare = self.model.module if self.distributed else self.model
        for data in self.val_loader:
            with torch.no_grad():
                scores = bare(data["img"].to(self.device), return_loss=False)
            gt_label = data["gt_label"].to(self.device)
            hits += (scores.argmax(1) == gt_label).sum().item()
            count += len(gt_label)
        sums = torch.tensor([hits, count], device=self.device)
        if self.distributed:
            torch.distributed.all_reduce(sums)
        hits, count = sums.tolist()
        self.log(epoch=self.epoch, acc1=100.0 * hits / count, count=count)

    @master_only
    def save(self):
        path = os.path.join(self.work_dir, f"epoch_{self.epoch}.pth")
        meta = {"epoch": self.epoch, "iter": self.iter}
        save_checkpoint(self.model, path, self.optimizer, self.scheduler, self.scaler, meta=meta)

    def load_checkpoint(self, path):
        return load_weights(self.model, path)

    def resume(self, path):
        checkpoint = self.load_checkpoint(path)
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        self.scheduler.load_state_dict(checkpoint["scheduler"])
        self.scaler.load_state_dict(checkpoint["scaler"])
        self.epoch = checkpoint["meta"]["epoch"]
        self.iter = checkpoint["meta"]["iter"]
