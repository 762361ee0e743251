"""`memory serve tokens`, the options of a shared server, `memory data push` and `pull`."""

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_assets.errors import QuestionError
from memory_assets.extras.sharing import tokens
from memory_assets.extras.sharing.tokens import SCOPES, AccessToken, AccessTokens
from memory_assets.interfaces.cli.commands import Commands, completing, group, view_reply
from memory_assets.interfaces.ports import is_loopback
from memory_assets.interfaces.views.lines import Parts, bold, dim, table
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent
from memory_assets.text.words import counted

if TYPE_CHECKING:
    from memory_assets.extras.sharing.push import Pushed, Pusher, SessionToPush
    from memory_assets.extras.sharing.server import SharedAccess

MOST_SESSIONS = 20
"""Sessions that a preview of a push lists; --json lists all."""

MOST_PROJECTS = 8
"""Projects that the question before the first push names."""

data = Commands()
serve = Commands()
app = group("Create, list and revoke the tokens of a shared memory.")
serve.add_typer(app, name="tokens")


@app.command(
    epilog="Example: `memory serve tokens create laptop --person Ada --project shop --scope read "
    "--scope write`"
)
def create(
    name: Annotated[
        str, typer.Argument(help="What the token is for, such as the machine or the agent.")
    ],
    person: Annotated[
        str,
        typer.Option(
            help="Who asks with it; of preferences, only theirs are returned.",
            autocompletion=completing(kind="person"),
        ),
    ],
    scope: Annotated[
        list[str],
        typer.Option(
            help="read: ask. write: save facts. review: decide, forget. push: send sessions. "
            "Repeatable.",
            autocompletion=completing(*SCOPES),
        ),
    ],
    project: Annotated[
        str,
        typer.Option(
            help="The project it asks in; others rank lower.",
            autocompletion=completing(kind="project"),
        ),
    ] = "",
) -> Reply:
    """Create a token and print it, once: the store keeps only its hash."""
    agent = MemoryAgent()
    now = agent.settings.clock()
    token, secret = tokens.create(
        agent.store, name, person=person, project=project, scopes=scope, now=now
    )
    where = f" in {token.project}" if token.project else ""
    scopes = ", ".join(token.scopes)
    line = f"Token {token.id} of {token.person}{where}, {scopes}. It is shown this once:"
    return Reply({**_without_hash(token), "token": secret}, [line, secret])


@app.command("list", epilog="Example: `memory serve tokens list`")
def list_tokens() -> Reply:
    """List the tokens, without their secrets."""
    every = AccessTokens(MemoryAgent().store.root).every()
    return Reply({"tokens": [_without_hash(token) for token in every]}, _render_tokens(every))


@app.command(epilog="Example: `memory serve tokens revoke 3fa94c01`")
def revoke(
    token: Annotated[str, typer.Argument(metavar="ID", help="Id or name of the token.")],
) -> Reply:
    """Revoke a token: a running server refuses it with the next request."""
    agent = MemoryAgent()
    revoked = tokens.revoke(agent.store, token, now=agent.settings.clock())
    line = f"Token {revoked.id} ({revoked.name}) of {revoked.person} is revoked."
    return Reply(_without_hash(revoked), [line])


def _render_tokens(every: tuple[AccessToken, ...]) -> Parts:
    if not every:
        yield (
            "There are no tokens. Create one: `memory serve tokens create NAME --person PERSON "
            f"--scope {SCOPES[0]}`."
        )
        return
    rows = []
    for token in every:
        state = "valid" if token.is_valid else "revoked"
        names = (token.id, token.name, token.person, token.project or "-")
        rows.append([*names, ",".join(token.scopes), state])
    yield table("", "id", "name", "person", "project", "scopes", "state", rows=rows)


def _without_hash(token: AccessToken) -> dict[str, Any]:
    return {name: value for name, value in asdict(token).items() if name != "sha256"}


@dataclass(frozen=True)
class SharedOptions:
    """The options of `memory serve` about other people; each field is an option."""

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

    def open(self, host: str, *, is_http: bool) -> "SharedAccess | None":
        """Returns the access with tokens; None without `--shared`.

        Raises `QuestionError` for options that do not fit together, and for a server that other
        machines could reach without a token.
        """
        if self.shared:
            return self._open_shared(is_http)
        if self.tls_cert or self.tls_key or self.public_name:
            raise QuestionError("--tls-cert, --tls-key and --public-name belong to --shared.")
        if not is_loopback(host):
            raise QuestionError(
                f"{host} can be reached from other machines. Serve it with --shared, where each "
                "request needs a token (`memory serve tokens create`); without it, only this "
                "machine is served."
            )
        return None

    def _open_shared(self, is_http: bool) -> "SharedAccess":
        if not is_http:
            raise QuestionError(
                "--shared needs --http: over stdin and stdout there is one person, and no token."
            )
        from memory_assets.extras.sharing.access import AuditLog, WriteLimit
        from memory_assets.extras.sharing.server import SharedAccess
        from memory_assets.extras.sharing.settings import sharing

        agent = MemoryAgent()
        access_tokens = AccessTokens(agent.store.root)
        if not any(token.is_valid for token in access_tokens.every()):
            raise QuestionError(
                "There is no valid token, so nobody could ask. Create one: `memory serve tokens "
                "create NAME --person PERSON --scope read`."
            )
        return SharedAccess(
            access_tokens,
            WriteLimit(sharing(agent.settings).writes_per_minute),
            AuditLog(agent.store.root, agent.settings.clock),
            frozenset(map(str.lower, self.public_name or ())),
            self._tls(),
        )

    def _tls(self) -> tuple[str, str] | None:
        """Returns the files of certificate and key; raises `QuestionError` for unusable ones."""
        cert = self.tls_cert
        key = self.tls_key
        if cert is None and key is None:
            return None
        if cert is None or key is None:
            raise QuestionError("--tls-cert and --tls-key are needed together.")
        import ssl

        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
        except (OSError, ValueError) as error:  # `SSLError` is an `OSError`
            raise QuestionError(
                f"Cannot use {cert} with {key} for TLS: {error}. Give a certificate and its key "
                "in PEM."
            ) from None
        return str(cert), str(key)


@data.command(epilog="Example: `memory data push https://memory.example:3100 --dry-run`")
def push(
    url: Annotated[
        str | None,
        typer.Argument(
            help="A shared memory (https://…), or a machine of yours: "
            "ssh://[user@]host[:port][/data-folder]; default: the setting push_url."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be sent; send nothing.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before the first push to a server.")
    ] = False,
) -> Reply:
    """Send masked sessions to a shared memory, or what this store has to a machine of yours; only
    what is missing there.
    """
    from memory_assets.extras.sharing.push import Pusher
    from memory_assets.extras.sharing.settings import sharing

    agent = MemoryAgent()
    settings = sharing(agent.settings)
    address = url or settings.push_url
    if address.startswith("ssh:") and not dry_run:
        from memory_assets.extras.sharing.ssh import exchange

        return _pushed_reply(exchange(agent.store, address))
    pusher = Pusher(agent.store, address, settings.push_token)
    if dry_run:
        return view_reply(render_pushed, pusher.preview())
    if pusher.is_first and not yes:
        _check_agreement(pusher)
    return _pushed_reply(pusher.push())


@data.command(epilog="Example: `memory data pull ssh://desktop`")
def pull(
    url: Annotated[
        str | None,
        typer.Argument(
            help="A machine of yours: ssh://[user@]host[:port][/data-folder]; default: push_url."
        ),
    ] = None,
) -> Reply:
    """Fetch what a machine of yours has and this store lacks; makes the store if there is none."""
    from memory_assets.extras.sharing.settings import sharing
    from memory_assets.extras.sharing.ssh import check_fits, exchange
    from memory_assets.store.settings import read_settings
    from memory_assets.store.store import open_store

    settings = read_settings()
    address = url or sharing(settings).push_url
    if not (settings.data / "VERSION").is_file():
        check_fits(settings, address)
    store = open_store(settings)
    return _pushed_reply(exchange(store, address, is_pull=True), "Pulled from")


@data.command("serve-push", epilog="Example: `memory data serve-push --stdio`")
def serve_push(
    folder: Annotated[
        Path | None, typer.Argument(help="Data folder; default: that of the settings.")
    ] = None,
    stdio: Annotated[bool, typer.Option("--stdio", help="Answer over stdin and stdout.")] = False,
) -> Reply:
    """Answer a machine of yours: `memory data push ssh://…` runs this there."""
    from memory_assets.extras.sharing.ssh import serve_folder

    if not stdio:
        raise QuestionError("It answers over stdin and stdout only: give --stdio.")
    return Reply(None, exit_code=serve_folder(folder, sys.stdin.buffer, sys.stdout.buffer))


def _pushed_reply(pushed: "Pushed", verb: str = "Pushed to") -> Reply:
    view = partial(render_pushed, verb=verb)
    return view_reply(view, pushed, exit_code=int(bool(pushed.warnings)))


def _check_agreement(pusher: "Pusher") -> None:
    """Asks whether sessions may be sent to the server; raises `QuestionError` if they may not.

    A person is asked once for each server.
    """
    sessions = pusher.preview().sessions
    projects = sorted({session.project for session in sessions})
    names = ", ".join(projects[:MOST_PROJECTS]) or "no project"
    others = " and others" if len(projects) > MOST_PROJECTS else ""
    print(
        f"{counted(len(sessions), 'session')} of {names}{others} would be sent to {pusher.url}, "
        "secrets masked. Others who may ask that server can then recall facts of them. `--dry-run` "
        "lists them; the setting `push_projects` names the projects.",
        file=sys.stderr,
    )
    print("Send them? Type yes: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("yes", "y"):
        raise QuestionError("That was not agreed to. Nothing was sent. In a script, give --yes.")


def render_pushed(pushed: "Pushed", verb: str = "Pushed to") -> Parts:
    """Renders the sessions that were or would be pushed, by project, and those left out."""
    sessions = sorted(pushed.sessions, key=lambda session: (session.project, session.path))
    yield bold(_summary_of(pushed, verb))
    rows = list(_project_rows(sessions))
    if rows:
        yield table("project", "sessions", "new kB", rows=rows, numbers=("sessions", "new kB"))
    if pushed.is_dry_run and sessions:
        rows = [[item.project, item.session_id, _kilobytes(item.bytes)] for item in sessions]
        yield table("project", "session", "new kB", rows=rows[:MOST_SESSIONS], numbers=("new kB",))
        if len(rows) > MOST_SESSIONS:
            yield dim(f"and {len(rows) - MOST_SESSIONS:,} more; --json lists all")
    for left_out in pushed.left_out:
        yield dim(f"left out: {counted(left_out.sessions, 'session')} {left_out.reason}")
    if pushed.sent_bytes:
        yield dim(
            f"{_kilobytes(pushed.sent_bytes)} kB were sent. The next `memory ingest` distils them."
        )


def _summary_of(pushed: "Pushed", verb: str) -> str:
    if pushed.is_dry_run:
        count = counted(len(pushed.sessions), "session")
        return f"{count} would be pushed to {pushed.url}. Nothing was sent."
    summary = counted(pushed.pieces, "new piece") if pushed.pieces else "nothing new"
    if pushed.replaced:
        summary += f", {counted(pushed.replaced, 'piece')} replaced, with words masked since"
    if pushed.events:
        summary += f", {counted(pushed.events, 'new event')}"
    return f"{verb} {pushed.url} as {pushed.person}: {summary}."


def _project_rows(sessions: "list[SessionToPush]") -> Iterator[list[str]]:
    for project, project_sessions in groupby(sessions, key=lambda session: session.project):
        sizes = [session.bytes for session in project_sessions]
        yield [project, f"{len(sizes):,}", _kilobytes(sum(sizes))]


def _kilobytes(size: int) -> str:
    return f"{size / 1e3:,.1f}"


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.extras.sharing.push import Pushed
    from memory_assets.interfaces.json_schema import fields

    names = "id name person project scopes created_at revoked_at".split()
    without_secret = {**dict.fromkeys(names, str), "scopes": list[str]}
    return {
        "serve tokens create": fields(**without_secret, token=str),
        "serve tokens list": fields(tokens=list[dict[str, Any]]),
        "serve tokens revoke": fields(**without_secret),
        "data push": Pushed,
        "data pull": Pushed,
        "data serve-push": fields(),
    }
