"""Who may reach a server: its owner, from this machine; optional capabilities let others in."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from memory_assets.interfaces import dispatcher
from memory_assets.interfaces.guard import MOST_CONNECTIONS, App, Guard, Scope

if TYPE_CHECKING:
    from fastapi import FastAPI

    from memory_assets.interfaces.mcp.protocol import Protocol

METHOD = "memory_assets.method"
"""Key of the scope of a request: the method that a message of MCP names, for logs."""


class ServerAccess:
    """Access from this machine alone, where each request is the owner's."""

    is_shared = False
    """Whether it lets others in. Such a server may listen beyond this machine, and keeps no session
    between requests.
    """
    tls: tuple[str, str] | None = None
    """Files of the server's certificate and of its key."""
    most_connections = MOST_CONNECTIONS
    instructions = ""
    """For models that use the tools; empty: those of the protocol."""

    def guard(self, app: App, host: str, pages: Collection[str] = ()) -> App:
        """Returns the application behind what refuses requests; people open the pages in a
        browser.
        """
        return Guard(app, host, pages=pages)

    def agent_for(self, scope: Scope) -> dispatcher.AgentFor:
        """Returns what answers the calls of a request."""
        return dispatcher.agent_for_owner

    def protocol(self, protocol: "Protocol", scope: Scope) -> "Protocol":
        """Returns what answers a message of MCP."""
        return protocol

    def add_routes(self, app: "FastAPI") -> None:
        """Adds addresses beside those of the verbs."""

    def describe(self, *, is_writing: bool) -> str:
        """Returns in a few words what clients may do."""
        return "read and write" if is_writing else "read-only; --write allows writing"

    def remarks(self, address: str) -> tuple[Sequence[str], Sequence[str]]:
        """Returns lines and warnings about the address that the server listens on."""
        return (), ()


OWNER = ServerAccess()
