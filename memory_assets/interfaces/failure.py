"""What a person or an agent should read of something that failed: the same words at every door."""

import errno

from memory_assets.errors import MemoryAssetsError


def cause_of(error: BaseException) -> BaseException:
    """Returns what went wrong in our own words or the disk's, however it is wrapped; else the error itself."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryAssetsError) or (isinstance(cause, OSError) and cause.errno == errno.ENOSPC):
            return cause
        cause = cause.__cause__ or cause.__context__
    return error


def message_of(error: BaseException) -> str:
    """Returns the message; a failed asset's own error, not Dagster's account of it."""
    cause = cause_of(error)
    if isinstance(cause, MemoryAssetsError):
        return str(cause)
    if isinstance(cause, OSError) and cause.errno == errno.ENOSPC:
        return f"The disk is full: {cause}. Free space, then run the same command again; it goes on where it stopped."
    return f"{type(error).__name__}: {error}. This is a fault of memory_assets; MEMORY_DEBUG=1 shows where it happened."
