from .checkpoint import load_weights, save_checkpoint
from .dist_utils import get_dist_info, init_dist, master_only
from .runner import Runner
