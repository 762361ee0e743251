"""The process that reads one file, and prints its contents, or why it cannot be read, as JSON.

    python -m memory_assets.extras.library.worker FILE [page URL | feed]

Its memory is limited where the system can do that, because a small file may unpack to a very large
one.
"""

import json
import logging
import sys
from pathlib import Path

MOST_MEMORY = 3_000_000_000
"""Bytes of address space."""

MISSING = "missing"
"""Kind of failure: a package is not installed."""
UNREADABLE = "unreadable"
LARGE = "large"
"""Kind of failure: reading takes too much memory."""


def main(path: str, *how: str) -> dict[str, object]:
    """Returns the contents of the file, or the kind and the reason of the failure.

    `how` is `page` and its URL, or `feed`; a document has none.
    """
    from memory_assets.extras.library.contents import UnreadableError
    from memory_assets.extras.library.pages import read_feed, read_page
    from memory_assets.extras.library.readers import read_file

    try:
        if not how:
            return vars(read_file(Path(path)))
        content = Path(path).read_bytes()
        return read_feed(content) if how[0] == "feed" else read_page(content, *how[1:])
    except UnreadableError as error:
        return {"failed": UNREADABLE, "why": str(error)}
    except ImportError as error:
        return {"failed": MISSING, "why": error.name or str(error)}
    except MemoryError:
        return {"failed": LARGE, "why": ""}
    except OSError as error:
        return {"failed": UNREADABLE, "why": f"{error.strerror or error}."}
    except RecursionError:
        return {"failed": UNREADABLE, "why": "Its parts are nested too deeply."}


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    except (ImportError, ValueError, OSError):
        return  # the system cannot limit it; `process` limits the time


if __name__ == "__main__":
    _limit_memory()
    logging.disable()  # pypdf and others log every fault of a file
    sys.stdout.buffer.write(json.dumps(main(*sys.argv[1:]), default=vars).encode())
