"""Keeps the raw answers of models, so that no question is paid twice and a better parser can read them again.

An answer is written before anyone parses it. Its key is everything that made it: the window's content, the prompt,
the model and the way the window was written out. The rest of the store never edits these files.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memory_assets.errors import StoreError
from memory_assets.files import make_folder, write_atomically
from memory_assets.protocols import ModelAnswer

VERSION = 1
"""Version of the files, so that later releases can upcast them."""

USABLE = frozenset({"end_turn", "stop_sequence"})
"""Refusals and cut answers are kept, and are no hits."""


@dataclass(frozen=True)
class AnswerKey:
    """What an answer was made from."""

    content: str
    prompt_hash: str
    model: str
    serialiser: str

    @property
    def name(self) -> str:
        """The name of the answer's file, without its ending."""
        return hashlib.sha256("\x1f".join(asdict(self).values()).encode()).hexdigest()[:40]


class AnswerStore:
    """Raw answers as JSON files in one folder, by key."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, key: AnswerKey) -> ModelAnswer | None:
        """Returns the stored answer, or nothing where there is none that can be used."""
        path = self._path(key, "end_turn")
        try:
            kept: dict[str, Any] = json.loads(path.read_bytes())
            answer = ModelAnswer(**kept["answer"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"Cannot read the stored answer {path}: {error}. Delete the file to ask the model again."
            ) from error
        return answer

    def write(self, key: AnswerKey, answer: ModelAnswer) -> None:
        """Stores the answer as it came."""
        make_folder(self.root)
        kept = {"v": VERSION, "key": asdict(key), "answer": asdict(answer)}
        write_atomically(
            self._path(key, answer.stop_reason), json.dumps(kept, ensure_ascii=False, sort_keys=True, indent=1).encode()
        )

    def _path(self, key: AnswerKey, stop_reason: str) -> Path:
        """Returns the answer's file; one that cannot be used has its reason in the name, and is in nobody's way."""
        return self.root / (f"{key.name}.json" if stop_reason in USABLE else f"{key.name}.{stop_reason}.json")
