"""`python -m tests.bench` is `make bench`; a part's name behind it runs that part alone."""

import sys

from tests.bench import data_speed, helper_weight, parity_cost, port_speed, run, step_speed

PARTS = {
    "analyze": run.main,
    "port": port_speed.main,
    "helpers": helper_weight.main,
    "parity": parity_cost.main,
    "step": step_speed.main,
    "data": data_speed.main,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
