"""`memory serve`: the tools of agents (MCP), HTTP, the Dagster UI, the notebook."""

import inspect
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_assets.errors import QuestionError
from memory_assets.interfaces.cli import tokens
from memory_assets.interfaces.cli.commands import Json, group
from memory_assets.interfaces.ports import LOOPBACK, address_of, free_port, is_loopback, listen
from memory_assets.interfaces.views.terminal import Reply, tell
from memory_assets.memory import MemoryAgent

if TYPE_CHECKING:
    from memory_assets.interfaces.guard import App
    from memory_assets.interfaces.shared.sharing import Sharing

HTTP_PORT = 3100
MCP_PORT = 3200
NOTEBOOK_PORT = 8888

OPEN_WITHOUT_TLS = (
    "Other machines can reach this address, and nothing encrypts the tokens and answers on "
    "their way. Give --tls-cert and "
    "--tls-key, or listen on 127.0.0.1 behind a proxy that encrypts."
)

app = group("Serve the memory to agents (MCP), over HTTP, as the Dagster UI, or as a notebook.")
app.add_typer(tokens.app, name="tokens")
Write = Annotated[
    bool, typer.Option("--write", help="Also allow writing: facts, corrections, decisions.")
]
Port = Annotated[int, typer.Option(min=1, max=65_535, help="Port; the next free one is used.")]


@dataclass(frozen=True)
class Listening:
    """Where and for whom a server listens: a command with a parameter of this type has an option
    for each field.
    """

    host: Annotated[
        str, typer.Option(help="Address to listen on; by default only this machine can connect.")
    ] = LOOPBACK[0]
    port: Port = HTTP_PORT
    shared: Annotated[
        bool,
        typer.Option(
            "--shared",
            help="Serve several people: each request needs a token (`memory serve tokens create`).",
        ),
    ] = False
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", help="Certificate of a shared server, in PEM.")
    ] = None
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", help="Key of the certificate, in PEM.")
    ] = None
    public_name: Annotated[
        list[str] | None,
        typer.Option(
            "--public-name",
            metavar="HOST",
            help="Name by which clients reach it, itself or through a proxy. Repeatable.",
        ),
    ] = None


MCP_LISTENING = Listening(port=MCP_PORT)
HTTP_LISTENING = Listening(port=HTTP_PORT)


def _server(epilog: str) -> Callable[[Callable[..., Reply]], Callable[..., Reply]]:
    """Adds a function as a command, with the fields of its parameter `listening` as options in that
    place.
    """

    def register(run: Callable[..., Reply]) -> Callable[..., Reply]:
        parameters = inspect.signature(run, eval_str=True).parameters
        defaults = parameters["listening"].default
        options = [
            field.replace(default=getattr(defaults, name), kind=field.KEYWORD_ONLY)
            for name, field in inspect.signature(Listening, eval_str=True).parameters.items()
        ]

        def invoke(**words: Any) -> Reply:
            given = {option.name: words.pop(option.name) for option in options}
            return run(listening=Listening(**given), **words)

        signature: list[inspect.Parameter] = []
        for name, parameter in parameters.items():
            own_option = parameter.replace(kind=parameter.KEYWORD_ONLY)
            signature += options if name == "listening" else [own_option]
        update_wrapper(invoke, run)
        invoke.__signature__ = inspect.Signature(signature)  # pyright: ignore[reportFunctionMemberAccess]
        invoke.__annotations__ = {parameter.name: parameter.annotation for parameter in signature}
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
    listening: Listening = MCP_LISTENING,
    as_json: Json = False,
) -> Reply:
    """Serve the memory's tools over the Model Context Protocol; read-only unless --write is
    given.
    """
    if listening.shared and not http:
        raise QuestionError(
            "--shared needs --http: over stdin and stdout there is one person, and no token."
        )
    serving = _Serving.of(listening)
    if not http:
        from memory_assets.interfaces.mcp.stdio import serve

        return Reply(
            None,
            afterwards=lambda: serve(
                is_writing=write, is_structured=structured, is_for_prompts=prompts
            ),
        )
    from memory_assets.interfaces.mcp.http import PATH, application
    from memory_assets.interfaces.mcp.protocol import Protocol

    served = application(
        Protocol(is_writing=write, is_structured=structured), listening.host, serving.sharing
    )
    return serving.reply(served, PATH, is_writing=write)


@_server(
    epilog="Example: `memory serve http`, then `curl "
    "'127.0.0.1:3100/recall?question=how+do+we+deploy'`"
)
def http(
    write: Write = False, listening: Listening = HTTP_LISTENING, as_json: Json = False
) -> Reply:
    """Serve every verb over HTTP, each at an address of its own; read-only unless --write is
    given.
    """
    from memory_assets.interfaces.http import application

    serving = _Serving.of(listening)
    return serving.reply(
        application(listening.host, is_writing=write, sharing=serving.sharing),
        "/",
        is_writing=write,
    )


@app.command(epilog="Example: `memory serve ui --port 3000`")
def ui(
    port: Annotated[int | None, typer.Option(help="Port; the next free one is used.")] = None,
    as_json: Json = False,
) -> Reply:
    """Serve the Dagster UI with its sensors and schedules."""
    agent = MemoryAgent()
    return Reply(
        {"data": agent.store.root},
        afterwards=lambda: agent.serve_ui(free_port(port or agent.settings.port), tell),
    )


@app.command(epilog="Example: `memory serve notebook`")
def notebook(
    port: Port = NOTEBOOK_PORT,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address; do not open a browser.")
    ] = False,
    as_json: Json = False,
) -> Reply:
    """Open the notebook of the memory in Jupyter: charts, and questions to change (needs the extra
    `notebook`).
    """
    from memory_assets.interfaces import notebook as jupyter
    from memory_assets.memory.notebook import environment, own_copy

    port = free_port(port)
    path = own_copy(MemoryAgent().store.root)
    call = jupyter.command(path, port, opens_browser=not no_browser)
    parts = [f"The notebook is {path}. It is saved without outputs. Press Ctrl-C to stop."]
    return Reply(
        {"notebook": path},
        parts,
        afterwards=lambda: jupyter.serve(call, environment()),
    )


@dataclass(frozen=True)
class _Serving:
    """Where and how a server listens; checked before the port is taken."""

    host: str
    port: int
    sharing: "Sharing | None"
    tls: tuple[str, str] | None

    @classmethod
    def of(cls, options: Listening) -> "_Serving":
        """Returns it; raises `QuestionError` for options that do not fit together, or an open
        server without tokens.
        """
        cert = options.tls_cert
        key = options.tls_key
        names = options.public_name
        if not options.shared and (cert or key or names):
            raise QuestionError("--tls-cert, --tls-key and --public-name belong to --shared.")
        if not options.shared and not is_loopback(options.host):
            raise QuestionError(
                f"{options.host} can be reached from other machines. Serve it with "
                "--shared, where each request needs a token "
                "(`memory serve tokens create`); without it, only this machine is served."
            )
        sharing = _sharing(names or ()) if options.shared else None
        return cls(options.host, options.port, sharing, _tls_of(cert, key))

    def reply(self, served: "App", path: str, *, is_writing: bool) -> Reply:
        """Returns the address, and the server that runs once it is printed."""
        from memory_assets.interfaces.dispatcher import try_to_warm_up
        from memory_assets.interfaces.guard import MOST_CONNECTIONS, run
        from memory_assets.interfaces.shared import sharing

        listening = listen(self.host, self.port)
        url = address_of(listening, is_secure=self.tls is not None) + path
        is_open = not is_loopback(listening.getsockname()[0]) and self.tls is None
        warnings = [OPEN_WITHOUT_TLS] if is_open else []
        most = sharing.MOST_CONNECTIONS if self.sharing else MOST_CONNECTIONS

        def start() -> int:
            sys.stdout.flush()
            threading.Thread(target=try_to_warm_up, daemon=True).start()
            return run(served, listening, self.tls, most)

        access = "read and write" if is_writing else "read-only; --write allows writing"
        access = "shared: the scopes of each token decide" if self.sharing else access
        data = {"url": url, "is_writing": is_writing, "is_shared": self.sharing is not None}
        parts = [f"Serving {url} ({access}). Press Ctrl-C to stop.", *self._names()]
        return Reply(data, parts, warnings=warnings, afterwards=start)

    def _names(self) -> list[str]:
        """Returns how other machines name the server; none where only this one reaches it."""
        if is_loopback(self.host) or self.sharing is None:
            return []
        names = sorted(self.sharing.names)
        if names:
            return [f"It answers to its IP addresses and to {' and '.join(names)}."]
        return [
            "It answers to its IP addresses only; --public-name NAME adds the name that "
            "clients use."
        ]


def _sharing(names: Sequence[str]) -> "Sharing":
    """Returns the tokens, limit and log of the present store; raises `QuestionError` where no token
    is valid.
    """
    from memory_assets.interfaces.shared.rates import WriteLimit
    from memory_assets.interfaces.shared.sharing import Sharing
    from memory_assets.store.access_tokens import AccessTokens
    from memory_assets.store.audit_log import AuditLog

    agent = MemoryAgent()
    tokens = AccessTokens(agent.store.root)
    if not any(token.is_valid for token in tokens.every()):
        raise QuestionError(
            "There is no valid token, so nobody could ask. Create one: `memory serve tokens "
            "create NAME --person PERSON "
            "--scope read`."
        )
    log = AuditLog(agent.store.root, agent.settings.clock)
    return Sharing(
        tokens,
        WriteLimit(agent.settings.writes_per_minute),
        log,
        frozenset(name.lower() for name in names),
    )


def _tls_of(cert: Path | None, key: Path | None) -> tuple[str, str] | None:
    """Returns the files of certificate and key; raises `QuestionError` where they cannot be
    used.
    """
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise QuestionError("--tls-cert and --tls-key are needed together.")
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except (OSError, ValueError) as error:  # also `SSLError`
        raise QuestionError(
            f"Cannot use {cert} with {key} for TLS: {error}. Give a certificate and its key in PEM."
        ) from None
    return str(cert), str(key)


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.interfaces.json_schema import fields

    address = fields(url=str, is_writing=bool, is_shared=bool)
    return {
        "serve mcp": address,
        "serve http": address,
        "serve ui": fields(data=str),
        "serve notebook": fields(notebook=str),
        **tokens.answer_types(),
    }
