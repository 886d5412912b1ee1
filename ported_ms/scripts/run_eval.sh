#!/usr/bin/env bash
# Evaluate:
#   run_eval.sh [--device_target CPU|GPU|Ascend] [--mode auto|graph|pynative] [...] [-- script options]
# `--help` lists the options; PYTHON names the interpreter.
set -euo pipefail

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
exec "${PYTHON:-python}" "$home/scripts/launch.py" "$home/eval.py" "$@"
