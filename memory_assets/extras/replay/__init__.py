"""Replay: the turns of a session, and everything said and recalled in one of them."""

from memory_assets.schema.extras import Extra

RESULTS = "extras.replay.results"

EXTRA = Extra(
    name="replay",
    commands={"data": "cli:app"},
    answers={
        "data replay": [
            f"{RESULTS}:SessionReplay",
            f"{RESULTS}:TurnReplay",
            f"{RESULTS}:ReplayPage",
        ]
    },
)
