"""Decides who may use a server: here only its owner, from this machine.

An optional capability can let others in, with a class of its own.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from memory_assets.interfaces import dispatcher
from memory_assets.interfaces.guard import MOST_CONNECTIONS, App, Guard, Scope

if TYPE_CHECKING:
    from fastapi import FastAPI

    from memory_assets.interfaces.mcp.protocol import Protocol

METHOD = "memory_assets.method"
"""Key in the ASGI scope of a request, for logs: its value is the MCP method that is called."""


class ServerAccess:
    """Access from this machine alone, where each request is the owner's."""

    is_shared = False
    """Whether others than the owner may use the server. A shared server may listen beyond this
    machine, and keeps no session between requests.
    """
    tls: tuple[str, str] | None = None
    """Files of the server's certificate and of its key."""
    most_connections = MOST_CONNECTIONS
    """Connections that may be open at once."""
    instructions = ""
    """What models that use the tools are told; empty: `Protocol.instructions`."""

    def guard(self, app: App, host: str, pages: Collection[str] = ()) -> App:
        """Returns the application behind a guard; browsers may open only these pages."""
        return Guard(app, host, pages=pages)

    def agent_for(self, scope: Scope) -> dispatcher.AgentFor:
        """Returns the function that chooses the agent for each verb of this request."""
        return dispatcher.agent_for_owner

    def protocol(self, protocol: "Protocol", scope: Scope) -> "Protocol":
        """Returns the protocol that answers this request: the server's own, or another one."""
        return protocol

    def add_routes(self, app: "FastAPI") -> None:
        """Adds addresses to those of the verbs; here none."""

    def describe(self, *, is_writing: bool) -> str:
        """Returns in a few words what clients may do."""
        return "read and write" if is_writing else "read-only; --write allows writing"

    def remarks(self, address: str) -> tuple[Sequence[str], Sequence[str]]:
        """Returns the lines and the warnings to print about the address of the server."""
        return (), ()


OWNER = ServerAccess()
