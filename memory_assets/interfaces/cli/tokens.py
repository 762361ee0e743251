"""`memory serve tokens`: who may ask a shared memory over HTTP."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from memory_assets.interfaces.cli.commands import Json, completing, group
from memory_assets.interfaces.views.lines import table
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent
from memory_assets.store import access_tokens
from memory_assets.store.access_tokens import SCOPES, AccessToken, AccessTokens

app = group("Create, list and revoke the tokens of a shared memory.")

EXAMPLE = (
    "Example: `memory serve tokens create laptop --person Ada --project shop --scope read "
    "--scope write`"
)


@app.command(epilog=EXAMPLE)
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
    as_json: Json = False,
) -> Reply:
    """Create a token and print it, once: the store keeps only its hash."""
    agent = MemoryAgent()
    made, secret = access_tokens.create(
        agent.store, name, person=person, project=project, scopes=scope, now=agent.settings.clock()
    )
    where = f" in {made.project}" if made.project else ""
    parts = [
        f"Token {made.id} of {made.person}{where}, {', '.join(made.scopes)}. It is shown "
        "this once:",
        secret,
    ]
    return Reply({**_shown(made), "token": secret}, parts)


@app.command("list", epilog="Example: `memory serve tokens list`")
def list_tokens(as_json: Json = False) -> Reply:
    """List the tokens, without their secrets."""
    tokens = AccessTokens(MemoryAgent().store.root).every()
    rows = [
        [
            one.id,
            one.name,
            one.person,
            one.project or "-",
            ",".join(one.scopes),
            "valid" if one.is_valid else "revoked",
        ]
        for one in tokens
    ]
    parts = (
        [table("", "id", "name", "person", "project", "scopes", "state", rows=rows)]
        if rows
        else [_NONE]
    )
    return Reply({"tokens": [_shown(one) for one in tokens]}, parts)


@app.command(epilog="Example: `memory serve tokens revoke 3fa94c01`")
def revoke(
    token: Annotated[str, typer.Argument(metavar="ID", help="Id or name of the token.")],
    as_json: Json = False,
) -> Reply:
    """Revoke a token: a running server refuses it with the next request."""
    agent = MemoryAgent()
    revoked = access_tokens.revoke(agent.store, token, now=agent.settings.clock())
    return Reply(
        _shown(revoked), [f"Token {revoked.id} ({revoked.name}) of {revoked.person} is revoked."]
    )


_NONE = (
    "There are no tokens. Create one: `memory serve tokens create NAME --person PERSON --scope "
    f"{SCOPES[0]}`."
)


def _shown(token: AccessToken) -> dict[str, Any]:
    """Returns a token as it may be shown."""
    return {name: value for name, value in asdict(token).items() if name != "sha256"}


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.interfaces.json_schema import fields

    without_secret = {
        "id": str,
        "name": str,
        "person": str,
        "project": str,
        "scopes": list[str],
        "created_at": str,
        "revoked_at": str,
    }
    return {
        "serve tokens create": fields(**without_secret, token=str),
        "serve tokens list": fields(tokens=list[dict[str, Any]]),
        "serve tokens revoke": fields(**without_secret),
    }
