"""The MCP server over HTTP: the official server's transport, with the same answers as over
stdio.
"""

from collections.abc import Mapping
from typing import Any

import anyio.to_thread
import mcp_types
import orjson
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.responses import Response

from memory_assets.interfaces.guard import App, Receive, Scope, Send, read_all, replayed
from memory_assets.interfaces.mcp.protocol import NAME, PARSE_ERROR, Protocol, RefusedError, version
from memory_assets.interfaces.server_access import METHOD, OWNER, ServerAccess

PATH = "/mcp"


def application(protocol: Protocol, host: str, access: ServerAccess = OWNER) -> App:
    """Returns the ASGI application that answers at `/mcp`; the guard checks hosts and origins.

    A shared one keeps no sessions: each request is answered within its own access.
    """

    def answering(method: str, kind: type[mcp_types.Result]) -> Any:
        async def answer(context: Any, params: Any) -> mcp_types.Result:
            asked = access.protocol(protocol, context.request.scope)
            return kind.model_validate(
                await anyio.to_thread.run_sync(_answer, asked, method, params)
            )

        return answer

    server = Server(
        NAME,
        version=version(),
        title="Memory of coding sessions",
        instructions=access.instructions or protocol.instructions,
        on_list_tools=answering("tools/list", mcp_types.ListToolsResult),
        on_call_tool=answering("tools/call", mcp_types.CallToolResult),
        on_list_resources=answering("resources/list", mcp_types.ListResourcesResult),
        on_list_resource_templates=answering(
            "resources/templates/list", mcp_types.ListResourceTemplatesResult
        ),
        on_read_resource=answering("resources/read", mcp_types.ReadResourceResult),
    )
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    served = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        transport_security=unguarded,
        stateless_http=access.is_shared,
    )
    checked = _json_only(served)
    return access.guard(_posts_only(checked) if access.is_shared else checked, host)


def _posts_only(app: App) -> App:
    """Returns the application without streams of events: without sessions nothing is sent there,
    and each occupies a turn.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        await app(scope, receive, send)

    return answer


def _json_only(app: App) -> App:
    """Returns the application behind a strict check of bodies: the official server also takes
    `NaN`, which is no JSON.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        messages = (
            await read_all(receive) if scope["type"] == "http" and scope["method"] == "POST" else []
        )
        if messages and not messages[-1].get("more_body"):
            try:
                given = orjson.loads(b"".join(message.get("body", b"") for message in messages))
            except orjson.JSONDecodeError as error:
                refused = RefusedError(PARSE_ERROR, f"The body is not JSON: {error}.").to_dict()
                body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": refused})
                await Response(body, 400, media_type="application/json")(scope, receive, send)
                return
            if isinstance(given, dict):
                scope[METHOD] = str(given.get("method", ""))[:40]
        await app(scope, replayed(messages, receive), send)

    return answer


def _answer(protocol: Protocol, method: str, params: Any) -> dict[str, Any]:
    given: Mapping[str, Any] = (
        {} if params is None else params.model_dump(by_alias=True, exclude_none=True)
    )
    try:
        return protocol.answer(method, given)
    except RefusedError as refused:
        raise MCPError(code=refused.code, message=refused.message, data=refused.data) from refused
