"""The MCP server over HTTP.

The transport is that of the official server; the answers are the same as over stdio.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import anyio.to_thread
import mcp_types
import orjson
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.responses import Response

from memory_assets.interfaces.guard import App, Receive, Scope, Send, read_all, replay
from memory_assets.interfaces.mcp.protocol import (
    NAME,
    PARSE_ERROR,
    Protocol,
    RefusedError,
    client_name,
    version,
)
from memory_assets.interfaces.server_access import METHOD, OWNER, ServerAccess

PATH = "/mcp"


def application(protocol: Protocol, host: str, access: ServerAccess = OWNER) -> App:
    """Returns the ASGI application that answers at `/mcp`; the guard checks hosts and origins.

    A shared server keeps no sessions, because each request has its own access.
    """

    def handler_of(method: str, result_type: type[mcp_types.Result]) -> Any:
        async def handle(context: Any, params: Any) -> mcp_types.Result:
            responder = access.protocol(protocol, context.request.scope)
            hello = context.session.client_params
            client = client_name(hello.client_info.name) if hello else ""
            answer = partial(responder.answer, client=client)
            result = await anyio.to_thread.run_sync(_answer, answer, method, params)
            return result_type.model_validate(result)

        return handle

    server = Server(
        NAME,
        version=version(),
        title="Memory of coding sessions",
        instructions=access.instructions or protocol.instructions,
        on_list_tools=handler_of("tools/list", mcp_types.ListToolsResult),
        on_call_tool=handler_of("tools/call", mcp_types.CallToolResult),
        on_list_prompts=handler_of("prompts/list", mcp_types.ListPromptsResult),
        on_get_prompt=handler_of("prompts/get", mcp_types.GetPromptResult),
        on_list_resources=handler_of("resources/list", mcp_types.ListResourcesResult),
        on_list_resource_templates=handler_of(
            "resources/templates/list", mcp_types.ListResourceTemplatesResult
        ),
        on_read_resource=handler_of("resources/read", mcp_types.ReadResourceResult),
    )
    no_checks = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    transport_app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        transport_security=no_checks,  # the guard checks instead
        stateless_http=access.is_shared,
    )
    app = _json_only(transport_app)
    if access.is_shared:
        app = _posts_only(app)
    return access.guard(app, host)


def _posts_only(app: App) -> App:
    """Returns the application without GET, which would open a stream of events.

    Without sessions nothing is sent on such a stream, and it would occupy a turn of the guard.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        await app(scope, receive, send)

    return answer


def _json_only(app: App) -> App:
    """Returns the application behind a strict check of bodies, which also notes the method.

    The official server itself would accept `NaN`, which is no JSON.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        messages = []
        if scope["type"] == "http" and scope["method"] == "POST":
            messages = await read_all(receive)
        if messages and not messages[-1].get("more_body"):
            body = b"".join(message.get("body", b"") for message in messages)
            try:
                request = orjson.loads(body)
            except orjson.JSONDecodeError as error:
                refusal = RefusedError(PARSE_ERROR, f"The body is not JSON: {error}.").to_dict()
                reply = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": refusal})
                await Response(reply, 400, media_type="application/json")(scope, receive, send)
                return
            if isinstance(request, dict):
                scope[METHOD] = str(request.get("method", ""))[:40]
        await app(scope, replay(messages, receive), send)

    return answer


def _answer(
    answer: Callable[[str, Mapping[str, Any]], dict[str, Any]], method: str, params: Any
) -> dict[str, Any]:
    arguments: Mapping[str, Any] = {}
    if params is not None:
        arguments = params.model_dump(by_alias=True, exclude_none=True)
    try:
        return answer(method, arguments)
    except RefusedError as refusal:
        raise MCPError(code=refusal.code, message=refusal.message, data=refusal.data) from refusal
