"""`memory serve`: the tools of agents (MCP), HTTP, the local page, the Dagster UI, the notebook."""

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_assets.errors import QuestionError, StoreError
from memory_assets.interfaces import ports
from memory_assets.interfaces.cli import commands
from memory_assets.interfaces.views.terminal import Reply, tell
from memory_assets.memory import MemoryAgent
from memory_assets.schema.extras import loaded

if TYPE_CHECKING:
    from socket import socket

    from memory_assets.interfaces.guard import App
    from memory_assets.interfaces.server_access import ServerAccess

HTTP_PORT = 3100
MCP_PORT = 3200
NOTEBOOK_PORT = 8888

app = commands.group(
    "Serve the memory to agents (MCP), over HTTP, as a page, as the Dagster UI, or as a notebook."
)
Write = Annotated[
    bool, typer.Option("--write", help="Also allow writing: facts, corrections, decisions.")
]
Host = Annotated[
    str, typer.Option(help="Address to listen on; by default only this machine can connect.")
]
Port = Annotated[int, typer.Option(min=1, max=65_535, help="Port; the next free one is used.")]
Options = Sequence[Any]
"""The options that optional capabilities add to a server: an object of each `server_options`."""


def _server(epilog: str) -> Callable[[Callable[..., Reply]], Callable[..., Reply]]:
    """Returns a decorator that makes a function a command of `memory serve`.

    Options of optional capabilities take the place of its parameter `options`.
    """

    def register(run: Callable[..., Reply]) -> Callable[..., Reply]:
        parameters_of = {
            kind: commands.keyword_parameters(kind) for kind in loaded("server_options")
        }

        def invoke(**words: Any) -> Reply:
            options = []
            for option_class, parameters in parameters_of.items():
                values = {parameter.name: words.pop(parameter.name) for parameter in parameters}
                options.append(option_class(**values))
            return run(options=options, **words)

        signature = commands.keyword_parameters(run)
        place = [parameter.name for parameter in signature].index("options")
        signature[place : place + 1] = chain.from_iterable(parameters_of.values())
        update_wrapper(invoke, run)
        commands.set_parameters(invoke, signature)
        app.command(epilog=epilog)(invoke)
        return run

    return register


@_server(
    epilog="Example: `claude mcp add --scope user memory -- memory serve mcp --store ~/memory`"
)
def mcp(
    write: Write = False,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP instead of stdin and stdout.")
    ] = False,
    structured: Annotated[
        bool,
        typer.Option(
            "--structured",
            help="Also answer with JSON, for programs; a harness would hand it to the model.",
        ),
    ] = False,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Also answer the hooks that recall at each prompt.")
    ] = False,
    host: Host = ports.LOOPBACK[0],
    port: Port = MCP_PORT,
    options: Options = (),
) -> Reply:
    """Serve the memory's tools over the Model Context Protocol; read-only unless --write is
    given.
    """
    access = _access(host, options, is_http=http)
    if not http:
        from memory_assets.interfaces.mcp.stdio import serve

        start = partial(serve, is_writing=write, is_structured=structured, is_for_prompts=prompts)
        return Reply(None, afterwards=start)
    from memory_assets.interfaces.mcp.http import PATH, application
    from memory_assets.interfaces.mcp.protocol import Protocol

    mcp_app = application(Protocol(is_writing=write, is_structured=structured), host, access)
    return _serve(mcp_app, host, port, PATH, access, is_writing=write)


@_server(
    epilog="Example: `memory serve http`, then `curl "
    "'127.0.0.1:3100/recall?question=how+do+we+deploy'`"
)
def http(
    write: Write = False,
    host: Host = ports.LOOPBACK[0],
    port: Port = HTTP_PORT,
    options: Options = (),
) -> Reply:
    """Serve every verb over HTTP, each at an address of its own; read-only unless --write is
    given.
    """
    from memory_assets.interfaces.http import application

    access = _access(host, options)
    api = application(host, is_writing=write, access=access)
    return _serve(api, host, port, "/", access, is_writing=write)


@app.command(epilog="Example: `memory serve page`, and open the link that it prints")
def page(
    port: Port = ports.PAGE_PORT,
    link: Annotated[
        bool, typer.Option("--link", help="Print a new link to the page that is served already.")
    ] = False,
) -> Reply:
    """Serve a page for you alone: read, search, review, correct and forget in a browser."""
    from memory_assets.memory import page as memory_page

    root = MemoryAgent().store.root
    if link:
        if not memory_page.is_served(root):
            raise StoreError("No page is served now. Run `memory serve page`, or `memory up`.")
        url = memory_page.new_link(root)
        return Reply({"url": url}, [f"Open {url} (it works once, within 15 minutes)."])
    from memory_assets.interfaces.page.app import application

    listener = ports.listen(ports.LOOPBACK[0], port)
    own_port = listener.getsockname()[1]
    memory_page.begin(root, ports.address_of(listener))
    url = memory_page.new_link(root)
    parts = [f"Open {url} (it works once, within 15 minutes). Press Ctrl-C to stop."]
    if own_port != port:
        parts.insert(0, f"Port {port} is in use; the page is served on port {own_port}.")

    def serve() -> int:
        """Serves the page until it is stopped."""
        try:
            return _run(application(own_port), listener)
        finally:
            memory_page.end(root)

    return Reply({"url": url}, parts, afterwards=serve)


def _run(server_app: "App", listener: "socket") -> int:
    """Serves the application until it is stopped."""
    from memory_assets.interfaces.guard import run

    sys.stdout.flush()
    return run(server_app, listener)


@app.command(epilog="Example: `memory serve ui --port 3000`")
def ui(
    port: Annotated[int | None, typer.Option(help="Port; the next free one is used.")] = None,
) -> Reply:
    """Serve the Dagster UI with its sensors and schedules."""
    agent = MemoryAgent()
    return Reply(
        {"data": agent.store.root},
        afterwards=lambda: agent.serve_ui(ports.free_port(port or agent.settings.port), tell),
    )


@app.command(epilog="Example: `memory serve notebook`")
def notebook(
    port: Port = NOTEBOOK_PORT,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address; do not open a browser.")
    ] = False,
) -> Reply:
    """Open the notebook of the memory in Jupyter: charts, and questions to change (needs the extra
    `notebook`).
    """
    from memory_assets.interfaces import notebook as jupyter
    from memory_assets.memory.notebook import environment, own_copy

    port = ports.free_port(port)
    path = own_copy(MemoryAgent().store.root)
    call = jupyter.command(path, port, opens_browser=not no_browser)
    parts = [f"The notebook is {path}. It is saved without outputs. Press Ctrl-C to stop."]
    return Reply(
        {"notebook": path},
        parts,
        afterwards=lambda: jupyter.serve(call, environment()),
    )


def _access(host: str, options: Options, *, is_http: bool = True) -> "ServerAccess":
    """Returns the access that the options ask for, by default that of the owner.

    Raises `QuestionError` for options that do not fit together, and for an address that other
    machines can reach where no option decides who may use it.
    """
    from memory_assets.interfaces.server_access import OWNER

    access = OWNER
    for server_options in options:
        access = server_options.open(host, is_http=is_http) or access
    if not access.is_shared and not ports.is_loopback(host):
        raise QuestionError(f"{host} can be reached from other machines; only this one is served.")
    return access


def _serve(
    server_app: "App", host: str, port: int, path: str, access: "ServerAccess", *, is_writing: bool
) -> Reply:
    """Returns a reply with the address; once it is printed, the server runs."""
    from memory_assets.interfaces.dispatcher import try_to_warm_up
    from memory_assets.interfaces.guard import run

    listener = ports.listen(host, port)
    url = ports.address_of(listener, is_secure=access.tls is not None) + path
    lines, warnings = access.remarks(listener.getsockname()[0])

    def start() -> int:
        sys.stdout.flush()
        threading.Thread(target=try_to_warm_up, daemon=True).start()
        return run(server_app, listener, access.tls, access.most_connections)

    data = {"url": url, "is_writing": is_writing, "is_shared": access.is_shared}
    parts = [f"Serving {url} ({access.describe(is_writing=is_writing)}). Press Ctrl-C to stop."]
    return Reply(data, [*parts, *lines], warnings=warnings, afterwards=start)


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.interfaces.json_schema import fields

    address = fields(url=str, is_writing=bool, is_shared=bool)
    return {
        "serve mcp": address,
        "serve http": address,
        "serve page": fields(url=str),
        "serve ui": fields(data=str),
        "serve notebook": fields(notebook=str),
    }
