#!/usr/bin/env bash
# Train on several devices of this machine, one process each:
#   run_distribute_train.sh WORKERS [--device_target CPU|GPU|Ascend] [...] [-- script options]
# The workers run the `python` that is found first on PATH. MASTER_PORT, LOG_DIR (one log a
# worker) and TIME_LIMIT (seconds; a worker that cannot start leaves the others waiting) may be set.
set -euo pipefail

if (($# == 0)) || [[ ! $1 =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: ${0##*/} WORKERS [options] [-- script options]" >&2
  exit 2
fi
workers=$1
shift
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
exec timeout "${TIME_LIMIT:-0}" msrun \
  --worker_num="$workers" --local_worker_num="$workers" \
  --master_port="${MASTER_PORT:-8118}" --log_dir="${LOG_DIR:-msrun_log}" --join=True \
  "$home/scripts/launch.py" "$home/train.py" --script_option=--distributed "$@"
