"""Train what a configuration file describes: python tools/train.py CONFIG [key=value ...]"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from smallcls.config import Config
from smallcls.engine import Runner, init_dist


def parse_args():
    parser = argparse.ArgumentParser(description="Train a classifier")
    parser.add_argument("config", help="train config file path")
    parser.add_argument("--work-dir", default="work_dirs", help="the dir to save logs and models")
    parser.add_argument("--resume-from", help="the checkpoint file to resume from")
    parser.add_argument("--launcher", choices=["none", "pytorch"], default="none")
    parser.add_argument("--device", help="cuda or cpu; by default cuda where there is one")
    parser.add_argument("--local_rank", "--local-rank", type=int, default=0)
    parser.add_argument("options", nargs="*", metavar="key=value")
    return parser.parse_args()


def main():
    args = parse_args()
    cfg = Config.from_file(args.config)
    cfg.merge(args.options)
    distributed = args.launcher != "none"
    if distributed:
        init_dist(args.launcher, **cfg.get("dist_params", {}))
    runner = Runner(cfg, work_dir=args.work_dir, device=args.device, distributed=distributed)
    if args.resume_from:
        runner.resume(args.resume_from)
    elif cfg.get("load_from"):
        runner.load_checkpoint(cfg.load_from)
    runner.run()


if __name__ == "__main__":
    main()
