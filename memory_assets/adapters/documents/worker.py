"""The process that reads one file: `python -m memory_assets.adapters.documents.worker FILE`.

Writes what the file contains as JSON to stdout, or why it cannot be read. Its memory is limited where the system can do that,
because a small file may unpack to a very large one.
"""

import json
import logging
import sys
from dataclasses import asdict
from pathlib import Path

MOST_MEMORY = 3_000_000_000
"""Bytes of address space."""

MISSING, UNREADABLE, LARGE = "missing", "unreadable", "large"
"""Kinds of failures: a package is not installed, the file cannot be read, it takes too much memory."""


def main(path: str) -> dict[str, object]:
    """Returns what the file contains, or the kind and the text of the failure."""
    from memory_assets.adapters.documents.contents import UnreadableError
    from memory_assets.adapters.documents.readers import read_file

    try:
        return asdict(read_file(Path(path)))
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
        return  # not on this system; the time is limited everywhere


if __name__ == "__main__":
    _limit_memory()
    logging.disable()  # the readers log what they find wrong in a file
    sys.stdout.buffer.write(json.dumps(main(sys.argv[1])).encode())
