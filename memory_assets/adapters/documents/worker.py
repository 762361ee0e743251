"""The process that reads one file: `python -m memory_assets.adapters.documents.worker FILE [page
URL | feed]`.

Writes what the file contains as JSON to stdout, or why it cannot be read. Its memory is limited
where the system can do that, because a small file may unpack to a very large one.
"""

import json
import logging
import sys
from dataclasses import asdict
from pathlib import Path

MOST_MEMORY = 3_000_000_000
"""Bytes of address space."""

MISSING, UNREADABLE, LARGE = "missing", "unreadable", "large"
"""Kinds of failures: a package is not installed, the file cannot be read, it takes too much memory.
"""


def main(path: str, *how: str) -> dict[str, object]:
    """Returns what the file contains, or the kind and the text of the failure; `how` is for a page
    or a feed of the web.
    """
    from memory_assets.adapters.documents.contents import UnreadableError
    from memory_assets.adapters.documents.readers import read_file

    try:
        return _of_web(Path(path).read_bytes(), *how) if how else asdict(read_file(Path(path)))
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


def _of_web(content: bytes, kind: str, url: str = "") -> dict[str, object]:
    from memory_assets.adapters.documents.contents import cleaned
    from memory_assets.adapters.documents.pages import read_feed, read_page

    if kind == "feed":
        found = read_feed(content)
        return {"title": found["title"], "items": [asdict(one) for one in found["items"]]}
    page = read_page(content, url)
    contents = cleaned("page", page["title"], page["sections"])
    return asdict(contents) | {"description": page["description"], "tags": page["tags"]}


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    except (ImportError, ValueError, OSError):
        return  # not on this system; the time is limited everywhere


if __name__ == "__main__":
    _limit_memory()
    logging.disable()  # the readers log what they find wrong in a file
    sys.stdout.buffer.write(json.dumps(main(*sys.argv[1:])).encode())
