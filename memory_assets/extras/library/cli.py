"""`memory library`: documents, decision records, and the log of what was done to systems."""

from typing import Annotated, Any

import typer

from memory_assets.extras.library import views as view
from memory_assets.extras.library.records import SLOG_ACTIONS
from memory_assets.extras.library.verbs import SLOG
from memory_assets.interfaces.cli import commands
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent

app = commands.group(
    "Knowledge beside sessions: documents, decision records, and the log of what was done "
    "to systems."
)
slog_app = commands.group(
    "The slog: an append-only log of what people, agents and memory itself did to systems."
)
feeds_app = commands.group(
    "Feeds that are watched; nothing else is fetched without being asked for."
)
adr_app = commands.group(
    "Architecture decision records (ADRs) of your projects; their files are only read."
)
app.add_typer(slog_app, name="slog")
app.add_typer(feeds_app, name="feeds")
app.add_typer(adr_app, name="adr")
commands.command_verbs.add(SLOG.name)

ADD = (
    "memory library slog add deploy worker 'Published worker:20260302' --reason 'subscription fix'"
)


Tags = Annotated[list[str] | None, typer.Option("--tag", help="Tag of documents. Repeatable.")]


@app.command("add", epilog="Example: `memory library add tempo.epub notes/*.md --tag strategy`")
def add(
    files: Annotated[
        list[str], typer.Argument(help="Files: PDF, EPUB, DOCX, HTML, Markdown, plain text.")
    ],
    tag: Tags = None,
) -> Reply:
    """Add documents. Their text is kept, with secrets masked, and found by `memory library search`
    only.
    """
    added = MemoryAgent().add_documents(files, tag=tag or ())
    return Reply(added, view.render_added(added), int(bool(added.problems)), added.warnings)


@app.command(
    "search", epilog="Example: `memory library search 'how does a write-ahead log recover'`"
)
def search(
    words: Annotated[list[str], typer.Argument(help="Words, or a question.")],
    document: Annotated[
        str | None, typer.Option(help="Only in this document: its id, or words of its title.")
    ] = None,
    tag: Tags = None,
    limit: commands.RowCount = 5,
) -> Reply:
    """Find parts of documents by words and meaning, with page or chapter."""
    chunks = MemoryAgent().search_documents(
        " ".join(words), document=document, tag=tag or (), limit=limit
    )
    return commands.view_reply(view.render_found, chunks)


@app.command("documents", epilog="Example: `memory library documents`")
def documents() -> Reply:
    """List the documents, the latest first."""
    rows = MemoryAgent().documents()
    return Reply({"documents": rows}, view.render_documents(rows))


@app.command("remove", epilog="Example: `memory library remove doc_0f3a5c1e9b2d`")
def remove(
    document: Annotated[str, typer.Argument(help="Its id, its file name, or words of its title.")],
) -> Reply:
    """Remove a document from the library; its file stays as it is."""
    removed = MemoryAgent().remove_document(document)
    return Reply(removed, view.render_removed(removed))


Private = Annotated[
    bool,
    typer.Option("--private", help="Also read addresses of private networks, such as localhost."),
]


@app.command(
    "discover", epilog="Example: `memory library discover https://example.org/article --tag queues`"
)
def discover(
    source: Annotated[
        str,
        typer.Argument(help="An address, or a git repository: a folder, or https ending in .git."),
    ],
    tag: Tags = None,
    private: Private = False,
) -> Reply:
    """Read a page or a repository, and keep a note of it that is recalled with its address."""
    discovered = MemoryAgent().discover(source, tag=tag or (), private=private)
    return commands.view_reply(view.render_discovered, discovered)


@feeds_app.command(
    "add", epilog="Example: `memory library feeds add https://example.org/feed.xml --tag queues`"
)
def feeds_add(
    url: Annotated[str, typer.Argument(help="The address of an RSS or Atom feed.")],
    tag: Tags = None,
    private: Private = False,
) -> Reply:
    """Watch a feed: from now on, its new items become notes."""
    return commands.view_reply(
        view.render_feed, MemoryAgent().add_feed(url, tag=tag or (), private=private)
    )


@feeds_app.command("list", epilog="Example: `memory library feeds list`")
def feeds_list() -> Reply:
    """List the feeds, with what the last poll said."""
    rows = MemoryAgent().feeds()
    return Reply({"feeds": rows}, view.render_feeds(rows))


@feeds_app.command(
    "remove", epilog="Example: `memory library feeds remove https://example.org/feed.xml`"
)
def feeds_remove(
    feed: Annotated[str, typer.Argument(help="Its id, address or title.")],
) -> Reply:
    """Watch a feed no more; the notes that it brought stay."""
    removed = MemoryAgent().remove_feed(feed)
    return Reply(removed, view.render_feed_removed(removed))


@feeds_app.command("poll", epilog="Example: `memory library feeds poll`")
def feeds_poll() -> Reply:
    """Look for new items in all feeds now; a schedule does so every hour while `memory up` runs."""
    polled = MemoryAgent().poll_feeds()
    has_failed = any(feed.problem for feed in polled.feeds)
    return Reply(polled, view.render_polled(polled), int(has_failed))


@slog_app.command("add", epilog=f"Example: `{ADD}`")
def slog_add(
    action: Annotated[
        str,
        typer.Argument(
            help=f"What was done: {', '.join(SLOG_ACTIONS)}.",
            autocompletion=commands.completing(*SLOG_ACTIONS),
        ),
    ],
    tool: Annotated[str, typer.Argument(help="What it was done to or with, such as caddy.")],
    detail: Annotated[str, typer.Argument(help="What was done, in a sentence.")],
    reason: Annotated[str, typer.Option(help="Why.")] = "",
) -> Reply:
    """Append an entry. Secrets are masked."""
    return commands.reply_to(SLOG, action=action, tool=tool, detail=detail, reason=reason)


@slog_app.command("list", epilog="Example: `memory library slog list -n 5`")
def slog_list(limit: commands.RowCount = 20) -> Reply:
    """List the latest entries, those of memory itself included: promotions, forgettings,
    what-ifs.
    """
    return commands.reply_to(SLOG, limit=limit)


@slog_app.command("search", epilog="Example: `memory library slog search deploy worker`")
def slog_search(
    words: Annotated[
        list[str], typer.Argument(help="Words that an entry must have, in any field.")
    ],
    limit: commands.RowCount = 20,
) -> Reply:
    """List the latest entries that have all of these words."""
    return commands.reply_to(SLOG, search=" ".join(words), limit=limit)


@adr_app.command("list", epilog="Example: `memory library adr list`")
def adr_list() -> Reply:
    """List the decision records with their status, what superseded them, and which are in force."""
    rows = MemoryAgent().adrs()
    return Reply({"records": rows}, view.render_adrs(rows))


@adr_app.command("check", epilog="Example: `memory library adr check`")
def adr_check() -> Reply:
    """Check status, numbers and supersession of the decision records. Fails if one has a
    problem.
    """
    rows = MemoryAgent().adrs()
    has_problems = any(row.problems for row in rows)
    return Reply({"records": rows}, view.render_problems(rows), int(has_problems))


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.extras.library.adrs import AdrRow
    from memory_assets.extras.library.discoveries import Discovered
    from memory_assets.extras.library.documents import Added, DocumentRow, FoundInDocuments
    from memory_assets.extras.library.feeds import FeedRow, Polled
    from memory_assets.extras.library.kept_documents import KeptDocument
    from memory_assets.extras.library.slog import SlogAnswer
    from memory_assets.interfaces.json_schema import fields

    records = fields(records=list[AdrRow])
    return {
        "library add": Added,
        "library discover": Discovered,
        "library feeds add": FeedRow,
        "library feeds list": fields(feeds=list[FeedRow]),
        "library feeds poll": Polled,
        "library feeds remove": FeedRow,
        "library documents": fields(documents=list[DocumentRow]),
        "library remove": KeptDocument,
        "library search": FoundInDocuments,
        "library adr list": records,
        "library adr check": records,
        "library slog add": SlogAnswer,
        "library slog list": SlogAnswer,
        "library slog search": SlogAnswer,
    }
