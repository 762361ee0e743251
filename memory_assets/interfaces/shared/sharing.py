"""What a server of a shared memory adds to its application: tokens, limits, a log, a longer queue,
further host names.
"""

from collections.abc import Collection
from dataclasses import dataclass

from memory_assets.interfaces.guard import App, Guard
from memory_assets.interfaces.shared.access import Access
from memory_assets.interfaces.shared.rates import WriteLimit
from memory_assets.store.access_tokens import AccessTokens
from memory_assets.store.audit_log import AuditLog

MOST_WAITING = 124
"""A team's agents ask at the same moment; each recall takes some tens of milliseconds, so that all
have their turn in time.
"""

MOST_CONNECTIONS = 256


@dataclass(frozen=True)
class Sharing:
    """The tokens, the limit and the log of one server."""

    tokens: AccessTokens
    limit: WriteLimit
    log: AuditLog
    names: Collection[str] = ()
    """Names by which clients reach the server, itself or through a proxy."""

    def guarded(self, app: App, host: str) -> App:
        """Returns the application behind a check of tokens, behind a guard; no page is open to
        browsers.
        """
        checked = Access(app, self.tokens, self.limit, self.log)
        return Guard(checked, host, names=self.names, most_waiting=MOST_WAITING)
