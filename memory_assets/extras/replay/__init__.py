"""Replay: the turns of a session, and everything said and recalled in one of them."""

from memory_assets.schema.extras import Extra

EXTRA = Extra(
    name="replay",
    commands={"data": "cli:app"},
    answers="cli:answer_types",
)
