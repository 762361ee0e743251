"""Long-term memory for coding agents, as Dagster assets.

    transcripts ─capture─▶ resources ▶ records ▶ windows ▶ messages, sessions
                 distill ─▶ segments ▶ observations, verdicts ▶ daily log
                 embed   ─▶ embeddings ▶ merges ▶ memories ▶ vector and text index
                 recall  ─▶ the few memories that help now
                 reflect ─▶ reflections ▶ weekly, monthly distillates; proposals
                 triage  ─▶ decisions ▶ REVIEW.md, MEMORY.md

`scan` returns any table as a polars frame. `MemoryAgent` answers what a person or an agent asks.
`Store` is the component by which another Dagster project mounts a store. They are imported at their
first use, so that importing this package imports nothing else.
"""

import os

# ONNX Runtime, Chroma and the Hugging Face libraries would otherwise report to their vendors that
# they are used.
os.environ |= {
    "ORT_DISABLE_TELEMETRY": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}

# Type checkers take a variable of this name for true. Importing it from `typing` would take as long
# as the whole command `memory brief`.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from memory_assets.definitions import MountedStore as Store
    from memory_assets.memory import MemoryAgent, scan

    __version__: str

__all__ = ["MemoryAgent", "Store", "__version__", "scan"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("memory_assets")
    if name == "Store":
        from memory_assets.definitions import MountedStore

        return MountedStore
    if name in __all__:
        from memory_assets import memory

        return getattr(memory, name)
    raise AttributeError(f"module 'memory_assets' has no attribute '{name}'")
