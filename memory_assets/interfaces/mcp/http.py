"""The MCP server over HTTP: the official server's transport, with the same answers as over stdio."""

from collections.abc import Mapping
from typing import Any

import anyio.to_thread
import mcp_types
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from memory_assets.interfaces.guard import App, Guard
from memory_assets.interfaces.mcp.protocol import NAME, Protocol, RefusedError, version

PATH = "/mcp"


def application(protocol: Protocol, host: str) -> App:
    """Returns the ASGI application that answers at `/mcp`; the guard checks hosts and origins."""

    def answering(method: str, kind: type[mcp_types.Result]) -> Any:
        async def answer(_: object, params: Any) -> mcp_types.Result:
            return kind.model_validate(await anyio.to_thread.run_sync(_answer, protocol, method, params))

        return answer

    server = Server(
        NAME,
        version=version(),
        title="Memory of coding sessions",
        instructions=protocol.instructions,
        on_list_tools=answering("tools/list", mcp_types.ListToolsResult),
        on_call_tool=answering("tools/call", mcp_types.CallToolResult),
        on_list_resources=answering("resources/list", mcp_types.ListResourcesResult),
        on_list_resource_templates=answering("resources/templates/list", mcp_types.ListResourceTemplatesResult),
        on_read_resource=answering("resources/read", mcp_types.ReadResourceResult),
    )
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    made = server.streamable_http_app(streamable_http_path=PATH, json_response=True, transport_security=unguarded)
    return Guard(made, host)


def _answer(protocol: Protocol, method: str, params: Any) -> dict[str, Any]:
    given: Mapping[str, Any] = {} if params is None else params.model_dump(by_alias=True, exclude_none=True)
    try:
        return protocol.answer(method, given)
    except RefusedError as refused:
        raise MCPError(code=refused.code, message=refused.message, data=refused.data) from refused
