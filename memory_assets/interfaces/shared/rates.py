"""Limits how often a token writes: a number of writes within any sixty seconds."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable

WINDOW_SECONDS = 60.0


class WriteLimit:
    """Counts the writes of each token within the last minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self._clock = per_minute, clock
        self._writes: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def take(self, token_id: str, count: int = 1) -> int:
        """Counts these writes and returns 0, or counts none and returns the seconds until one is
        allowed.
        """
        with self._lock:
            writes = self._recent(token_id)
            if len(writes) + count > self.per_minute:
                return self.wait_of(token_id)
            writes.extend([self._clock()] * count)
            return 0

    def wait_of(self, token_id: str) -> int:
        """Returns the seconds until the oldest write of the last minute no longer counts."""
        writes = self._recent(token_id)
        return max(math.ceil(WINDOW_SECONDS - (self._clock() - writes[0])), 1) if writes else 1

    def _recent(self, token_id: str) -> deque[float]:
        writes = self._writes.setdefault(token_id, deque())
        while writes and self._clock() - writes[0] >= WINDOW_SECONDS:
            writes.popleft()
        return writes
