"""Sessions of the three harnesses in which a message has a name in one content block and its secret in the next, for tests."""

import json
from pathlib import Path
from typing import Any

from memory_assets_tests.stages.capture.sessions import at

BLOCKS = (
    ("password", "Xk9#mQ2v!Lp7"),
    ("Thanks. My password is", "hT4$wZ8q?Rn2 on staging"),
    ("token:", "`gT7kQz81LmPq04XrVb29`"),
    ("The passphrase", "is", "Wq6!fJ3z@Ku5"),
    ("Then always connect with", "mysql -h db.acme.dev \\\n  -u root \\", " -pRb5%tG9s#Yd8 shop"),
)
"""Blocks of one message each; no block alone tells of a secret."""

SECRETS = ("Xk9#mQ2v!Lp7", "hT4$wZ8q?Rn2", "gT7kQz81LmPq04XrVb29", "Wq6!fJ3z@Ku5", "Rb5%tG9s#Yd8")
RULE = "We always install packages with uv, never with pip."
CODEX, PI = "019d0000-0000-7000-8000-00000000000c", "019d0000-0000-7000-8000-00000000000d"

Record = dict[str, Any]


def lay_out_split(folder: Path) -> Path:
    """Writes a session for each harness, a day apart from now, and returns the folder."""
    _write(folder / "claude" / "projects" / "-home-mira-shop" / "split.jsonl", _claude())
    _write(
        folder
        / "codex"
        / "sessions"
        / "2026"
        / "08"
        / "03"
        / f"rollout-2026-08-03T09-00-00-{CODEX}.jsonl",
        _codex(),
    )
    _write(
        folder / "pi" / "sessions" / "--home-mira-shop--" / f"2026-08-03T09-00-00-000Z_{PI}.jsonl",
        _pi(),
    )
    return folder


def _write(path: Path, records: list[Record]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def _turns() -> list[tuple[str, ...]]:
    return [*BLOCKS, (RULE,)]


def _claude() -> list[Record]:
    records = []
    for n, texts in enumerate(_turns()):
        about = {"sessionId": "split", "cwd": "/home/mira/shop", "version": "2.0.1"}
        asked = {"role": "user", "content": _blocks("text", texts)}
        said = {"id": f"msg_{n}", "role": "assistant", "content": _blocks("text", ["Noted."])}
        records.append(
            {"type": "user", "uuid": f"u{n}", "timestamp": at(2 * n), "message": asked, **about}
        )
        records.append(
            {
                "type": "assistant",
                "uuid": f"a{n}",
                "timestamp": at(2 * n + 1),
                "message": said,
                **about,
            }
        )
    return records


def _codex() -> list[Record]:
    records = [
        {
            "timestamp": at(0),
            "type": "session_meta",
            "payload": {"id": CODEX, "cwd": "/home/mira/shop", "source": "cli"},
        }
    ]
    for n, texts in enumerate(_turns()):
        asked = {"type": "message", "role": "user", "content": _blocks("input_text", texts)}
        said = {
            "type": "message",
            "role": "assistant",
            "content": _blocks("output_text", ["Noted."]),
        }
        records.append({"timestamp": at(2 * n), "type": "response_item", "payload": asked})
        records.append({"timestamp": at(2 * n + 1), "type": "response_item", "payload": said})
    return records


def _pi() -> list[Record]:
    records: list[Record] = [
        {"type": "session", "version": 3, "id": PI, "timestamp": at(0), "cwd": "/home/mira/shop"}
    ]
    for n, texts in enumerate(_turns()):
        asked = {"role": "user", "content": _blocks("text", texts), "timestamp": 0}
        said = {"role": "assistant", "content": _blocks("text", ["Noted."]), "timestamp": 0}
        records.append(
            {
                "type": "message",
                "id": f"u{n}",
                "parentId": f"a{n - 1}" if n else None,
                "timestamp": at(2 * n),
                "message": asked,
            }
        )
        records.append(
            {
                "type": "message",
                "id": f"a{n}",
                "parentId": f"u{n}",
                "timestamp": at(2 * n + 1),
                "message": said,
            }
        )
    return records


def _blocks(kind: str, texts: tuple[str, ...] | list[str]) -> list[Record]:
    return [{"type": kind, "text": text} for text in texts]
