"""One use of a torch API in a source file."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

# call        the API is called here
# value       a class or function is passed on, to be called elsewhere with torch's arguments
# type        only its identity matters: isinstance, issubclass, a comparison of types
# attribute   a member of an instance is read or written
# base        a class derives from it
# decorator, annotation, import    as the words say
# exists      hasattr asks whether there is such an API
# unknown     a method of an object that may be a tensor and may not
FORMS = (
    "call",
    "value",
    "type",
    "attribute",
    "base",
    "decorator",
    "annotation",
    "import",
    "exists",
    "unknown",
)


@dataclass(slots=True)
class Usage:
    """A torch API, how it is used, and where."""

    api: str
    form: str
    line: int
    column: int
    end_line: int
    end_column: int
    scope: str
    node: ast.AST
    call: ast.Call | None = None
    alternatives: tuple[str, ...] = field(
        default=()
    )  # other APIs it can be, where the receiver has several types
