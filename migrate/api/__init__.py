"""The public Python interface, imported as `ms_migrate`.

    import ms_migrate

    ported = ms_migrate.port_source("import torch\\nx = torch.cat([a, b], dim=1)\\n")
    print(ported.text, ported.ok)

What is named here is stable within a major version; `migrate` beside it is not.
"""

from migrate.errors import RequestError

from .functions import analyze_source, check_parity, port_source
from .results import AnalysisResult, Assumption, Finding, ParityResult, PortResult

__all__ = [
    "AnalysisResult",
    "Assumption",
    "Finding",
    "ParityResult",
    "PortResult",
    "RequestError",
    "analyze_source",
    "check_parity",
    "port_source",
]
