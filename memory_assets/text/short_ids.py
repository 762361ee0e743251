"""The short ids of memories, as people and models see and type them."""


def short_id(observation_id: str) -> str:
    """Returns the id of an observation or its memory as shown to people and models: `mem_` and twelve hex digits."""
    return f"mem_{observation_id.replace('-', '')[:12]}"
