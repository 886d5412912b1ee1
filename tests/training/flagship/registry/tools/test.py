"""Evaluate a checkpoint: python tools/test.py CONFIG CHECKPOINT"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from smallcls.config import Config
from smallcls.data import build_dataloader, build_dataset
from smallcls.engine import load_weights
from smallcls.models import build_classifier


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("checkpoint")
    parser.add_argument("--out", default="result.json")
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    cfg = Config.from_file(args.config)
    cfg.merge(args.options)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = build_classifier(cfg.model)
    load_weights(model, args.checkpoint)
    model.to(device).eval()
    loader = build_dataloader(build_dataset(cfg.data.val), **cfg.data.loader, training=False)
    scores, labels = [], []
    with torch.no_grad():
        for data in loader:
            scores.append(model(data["img"].to(device), return_loss=False))
            labels.append(data["gt_label"])
    result = torch.cat(scores)
    truth = torch.cat(labels).to(result.device)
    top1 = (result.argmax(dim=1) == truth).float().mean() * 100
    with open(args.out, "w") as stream:
        json.dump({"acc1": top1.item(), "scores": result.cpu().numpy().tolist()}, stream)
    print(f"accuracy_top-1: {top1.item():.2f}")


if __name__ == "__main__":
    main()
