"""Long-term memory for coding agents, as Dagster assets.

    transcripts ─capture─▶ resources ▶ records ▶ windows ▶ messages, sessions
                 distill ─▶ segments ▶ observations, verdicts ▶ daily log
                 embed   ─▶ embeddings ▶ merges ▶ memories ▶ vector and text index
                 recall  ─▶ the few memories that help now
                 reflect ─▶ reflections ▶ weekly, monthly distillates; proposals
                 triage  ─▶ decisions ▶ REVIEW.md, MEMORY.md

`scan` hands out any table as a polars frame; `MemoryAgent` answers what a person or an agent would
ask. Both are fetched when first used: importing this package imports nothing else, and switches off
what libraries report to their vendors.
"""

import os

os.environ |= {
    "ORT_DISABLE_TELEMETRY": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
# ONNX Runtime, Chroma and the Hugging Face libraries would otherwise report their use to their
# vendors, in every process.

# what type checkers take for true; importing `typing` for it would cost as much as all of `brief`
TYPE_CHECKING = False

if TYPE_CHECKING:
    from memory_assets.memory import MemoryAgent, scan

    __version__: str

__all__ = ["MemoryAgent", "__version__", "scan"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("memory_assets")
    if name in __all__:
        from memory_assets import memory

        return getattr(memory, name)
    raise AttributeError(f"module 'memory_assets' has no attribute '{name}'")
