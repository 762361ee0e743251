"""The verb that the library adds."""

from memory_assets.extras.library.requests import SlogRequest
from memory_assets.interfaces.verb import Verb

SLOG = Verb(
    "slog",
    SlogRequest,
    "Log what was done",
    "Append an entry to the log of what was done to systems, or list entries.",
    "Log a change of a system.",
    {
        "action": "deploy",
        "tool": "worker",
        "detail": "Published worker:20260302",
        "reason": "subscription fix",
    },
    is_writing=True,
    tool_parameters={"action": "", "tool": "", "detail": "", "reason": ""},
)
VERBS = [SLOG]
