"""`memory serve`: the tools of agents (MCP), HTTP, the Dagster UI, the notebook."""

import sys
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from memory_assets.interfaces.cli.commands import Json, group
from memory_assets.interfaces.ports import LOOPBACK, address_of, free_port, listen
from memory_assets.interfaces.views.terminal import Reply, tell
from memory_assets.memory import MemoryAgent
from memory_assets.services.which_store import environment_of

if TYPE_CHECKING:
    from memory_assets.interfaces.guard import App

HTTP_PORT, MCP_PORT, NOTEBOOK_PORT = 3100, 3200, 8888

app = group("Serve the memory to agents (MCP), over HTTP, as the Dagster UI, or as a notebook.")
Write = Annotated[bool, typer.Option("--write", help="Also allow writing: facts, corrections, decisions.")]
Host = Annotated[str, typer.Option(help="Address to listen on; by default only this machine can connect.")]
Port = Annotated[int, typer.Option(min=1, max=65_535, help="Port; the next free one is used.")]


@app.command(epilog="Example: `claude mcp add --scope user memory -- memory serve mcp --store ~/memory`")
def mcp(
    write: Write = False,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP instead of stdin and stdout.")] = False,
    structured: Annotated[
        bool, typer.Option("--structured", help="Also answer with JSON, for programs; a harness would hand it to the model.")
    ] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="Also answer the hooks that recall at each prompt.")] = False,
    host: Host = LOOPBACK[0],
    port: Port = MCP_PORT,
    as_json: Json = False,
) -> Reply:
    """Serve the memory's tools over the Model Context Protocol; read-only unless --write is given."""
    if not http:
        from memory_assets.interfaces.mcp.stdio import serve

        return Reply(None, afterwards=lambda: serve(is_writing=write, is_structured=structured, is_for_prompts=prompts))
    from memory_assets.interfaces.mcp.http import PATH, application
    from memory_assets.interfaces.mcp.protocol import Protocol

    return _serving(application(Protocol(is_writing=write, is_structured=structured), host), PATH, write, host, port)


@app.command(epilog="Example: `memory serve http`, then `curl '127.0.0.1:3100/recall?question=how+do+we+deploy'`")
def http(write: Write = False, host: Host = LOOPBACK[0], port: Port = HTTP_PORT, as_json: Json = False) -> Reply:
    """Serve every verb over HTTP, each at an address of its own; read-only unless --write is given."""
    from memory_assets.interfaces.http import application

    return _serving(application(host, is_writing=write), "/", write, host, port)


@app.command(epilog="Example: `memory serve ui --port 3000`")
def ui(
    port: Annotated[int | None, typer.Option(help="Port; the next free one is used.")] = None, as_json: Json = False
) -> Reply:
    """Serve the Dagster UI with its sensors and schedules."""
    agent = MemoryAgent()
    return Reply({"data": agent.store.root}, afterwards=lambda: agent.serve_ui(free_port(port or agent.settings.port), tell))


@app.command(epilog="Example: `memory serve notebook`")
def notebook(
    port: Port = NOTEBOOK_PORT,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address; do not open a browser.")] = False,
    as_json: Json = False,
) -> Reply:
    """Open the notebook of the memory in Jupyter: charts, and questions to change (needs the extra `notebook`)."""
    from memory_assets.interfaces import notebook as jupyter

    agent, port = MemoryAgent(), free_port(port)
    path = jupyter.own_copy(agent.store.root)
    call = jupyter.command(path, port, opens_browser=not no_browser)
    parts = [f"The notebook is {path}. It is saved without outputs. Press Ctrl-C to stop."]
    return Reply({"notebook": path}, parts, afterwards=lambda: jupyter.serve(call, environment_of(agent.settings)))


def _serving(served: "App", path: str, is_writing: bool, host: str, port: int) -> Reply:
    """Returns the address, and the server that runs once it is printed."""
    from memory_assets.interfaces.dispatcher import try_to_warm_up
    from memory_assets.interfaces.guard import run

    listening = listen(host, port)
    url, host = address_of(listening) + path, listening.getsockname()[0]
    access = "read and write" if is_writing else "read-only; --write allows writing"
    warnings = [] if host in LOOPBACK else [f"Anyone who can reach {host} can read this memory: there is no password."]

    def start() -> int:
        sys.stdout.flush()
        threading.Thread(target=try_to_warm_up, daemon=True).start()
        return run(served, listening)

    parts = [f"Serving {url} ({access}). Press Ctrl-C to stop."]
    return Reply({"url": url, "is_writing": is_writing}, parts, warnings=warnings, afterwards=start)
