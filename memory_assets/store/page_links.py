"""One-time links to the local page of a store.

    STORE/built/page/HASH        a link that was not used yet; HASH is that of its key
    STORE/built/page/address     where the page is served, written by its server

Whoever can write into the folder, which only the user of the store can, may open the page. A link
is used up by deleting its file, so of two attempts one fails. A server that begins deletes the
links that were made before: another program may have listened at their address.
"""

import hashlib
import secrets
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from memory_assets.store.sockets import is_listening
from memory_assets.text.files import text_of, write_atomically

FOLDER = Path("built", "page")
ADDRESS = "address"

LINK_SECONDS = 15 * 60
"""How long a link can be used."""

HASH_CHARS = 64


def begin(root: Path, address: str) -> None:
    """Notes where a server serves the page from now on, and deletes all links."""
    end(root)
    write_atomically(root / FOLDER / ADDRESS, address.encode())


def end(root: Path) -> None:
    """Notes that the page is served no more, and deletes all links."""
    folder = root / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for path in folder.iterdir():
        path.unlink(missing_ok=True)


def new_link(root: Path) -> str:
    """Returns a link that opens the served page once; empty where none is served."""
    address = text_of(root / FOLDER / ADDRESS).strip()
    if not address:
        return ""
    key = secrets.token_urlsafe(32)
    write_atomically(root / FOLDER / _hash(key), b"")
    return f"{address}/enter?key={key}"


def is_served(root: Path) -> bool:
    """Returns whether something listens where the page is noted to be served."""
    address = text_of(root / FOLDER / ADDRESS).strip()
    return bool(address) and is_listening(urlsplit(address).port or 0)


def use(root: Path, key: str) -> bool:
    """Uses the link of the key up; returns False if it was used already, is too old or unknown."""
    folder = root / FOLDER
    for link in folder.glob("?" * HASH_CHARS):
        with suppress(FileNotFoundError):  # another attempt used it
            if link.stat().st_mtime < time.time() - LINK_SECONDS:
                link.unlink()
    try:
        (folder / _hash(key)).unlink()
    except FileNotFoundError:
        return False
    return True


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
