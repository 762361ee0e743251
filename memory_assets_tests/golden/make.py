"""Writes the golden store of this release: a backup that every later release must be able to read.

    python -m memory_assets_tests.golden.make

Builds a store from some sessions of the bundled sample with a note, a correction, a decision and an event in the spool, backs it
up to `golden/VERSION.tar.zst`, and writes what must still hold to `golden/VERSION.json`. Run it once for each release, never to
make `test_golden` pass.
"""

import json
import tempfile
from pathlib import Path
from unittest.mock import patch

from memory_assets import __version__
from memory_assets.memory import MemoryAgent
from memory_assets.services.transfer.backup import back_up
from memory_assets.stages.deliver import hook
from memory_assets.store.store import VERSION
from memory_assets_tests.story import environment, lay_out_sample, open_at, run

HERE = Path(__file__).parent
SESSIONS = ("/pi/", "0a000001", "0a000002")
NOTE = "The golden store was written by a release of the past."
QUESTION = "Who wrote the golden store?"


def main() -> None:
    """Writes both files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = lay_out_sample(folder / "sources", *SESSIONS)
        data = folder / "store"
        with patch.dict("os.environ", environment(data, sources, HOME=name)):
            run("ingest", data, sources)
            store = open_at(data, sources)
            agent = MemoryAgent(store.settings)
            agent.remember(NOTE)
            waiting = agent.pending()
            if waiting:
                agent.approve(waiting[0].proposal_id)
            hook.send(
                [
                    "memory/session.ended",
                    "--session",
                    "0a000009-1111-4222-8333-444455556666",
                    "--store",
                    str(data),
                ]
            )
            run("ingest", data, sources)
            back_up(store, HERE / f"{__version__}.tar.zst")
        tables = ("messages", "sessions", "observations", "memories", "decisions")
        facts = {
            "store_version": VERSION,
            "rows": {table: store.tables.read(table).height for table in tables},
            "ledger_events": len(store.ledger.events()),
            "ranges": sum(map(len, store.archive.sources().values())),
            "memory_md": store.memory_md(),
            "files": sorted(
                path.relative_to(store.workspace).as_posix()
                for path in store.workspace.glob("projects/*.md")
            ),
            "recalled": NOTE,
            "question": QUESTION,
        }
        (HERE / f"{__version__}.json").write_text(
            json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
        )


if __name__ == "__main__":
    main()
