"""Finds what this machine offers as a model, and what a model would be sent. Sends no transcript,
and nothing to another machine.

It looks for the clients of harnesses and the files of their logins, for the names of keys in the
environment, and for servers on the usual ports of this machine, which it asks for their models.
"""

import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from math import ceil
from typing import Literal, get_args

import polars as pl

from memory_assets.adapters.anthropic_model import KEYS
from memory_assets.services.models import harness_clients
from memory_assets.services.models.model_budget import Budget
from memory_assets.services.models.model_names import listed_models
from memory_assets.services.models.model_questions import asked_about
from memory_assets.stages.distill.model import material, questions, short_sessions
from memory_assets.stages.distill.model.answer_rows import total_price
from memory_assets.stages.distill.model.questions import STAMP_TOKENS, TOKENS_A_CALL
from memory_assets.store.settings import AGENT, RULES, Role, Settings, harness_of
from memory_assets.store.store import Store
from memory_assets.text.words import CHARS_A_TOKEN, count_tokens

USUAL_PORTS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM", 4000: "LiteLLM"}
SECONDS = 0.5
"""How long to wait for a local server."""

KEY_MODEL = "claude-haiku-4-5"
"""The model that is offered where there is a key."""

MOST_SHOWN = 3
"""Models of one local server that are offered."""


@dataclass(frozen=True)
class ModelOffer:
    """Something that could be used as a model."""

    name: str
    """For `memory model use`."""
    kind: Literal["harness", "key", "server"]
    state: str
    """What was found, and what is missing."""
    is_ready: bool
    sent_to: str
    """Who would read what is sent."""
    usd: float | None = None
    """Price of every question that is due, in both roles; None where no price is known."""
    url: str = ""
    """Address of a local server."""
    title: str = ""
    """The name for people, if it is another."""
    plan: str = ""
    """The subscription that pays, as the harness's login names it; empty if that is not known."""

    @property
    def command(self) -> str:
        """The command that chooses it."""
        return f"memory model use {self.name}" + (f" --url {self.url}" if self.url else "")


@dataclass(frozen=True)
class ProjectShare:
    """The sessions of one project, and what a model would be sent of them."""

    project: str
    sessions: int
    calls: int
    """About windows of long sessions that no model was asked about."""
    short: int
    """Short sessions that no model was asked about; they share calls."""
    tokens: int
    """Estimated, of both; of short sessions without the prompt."""
    may_send: bool
    """Whether the settings allow it."""


@dataclass(frozen=True)
class ModelOverview:
    """The configured models, the offers of this machine, and what is due."""

    observer: str
    reflector: str
    origin: str
    """Where the observer's name comes from."""
    sent_to: str
    """Who reads what is sent now; empty without a model."""
    projects: tuple[ProjectShare, ...]
    """Every project, the largest first."""
    calls: int
    """Every question that is due: about sessions that no model has read, reflections, reviews."""
    tokens: int
    offers: tuple[ModelOffer, ...]

    @property
    def ready(self) -> list[ModelOffer]:
        """The offers that can be used at once."""
        return [offer for offer in self.offers if offer.is_ready]

    @property
    def waiting(self) -> tuple[str, ...]:
        """The projects that a configured model may not be sent."""
        return tuple(project.project for project in self.projects if not project.may_send)


@dataclass(frozen=True)
class DueQuestions:
    """The estimated prompt tokens of every question that is due, by role."""

    observer: tuple[int, ...]
    short: tuple[int, ...]
    """Of the calls about several short sessions."""
    short_sessions: int
    reflector: tuple[int, ...]
    reviews: tuple[int, ...] = ()
    decisions: int = 0
    """The tokens of the answers to the reviews."""

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens of all calls."""
        return (*self.observer, *self.short, *self.reflector, *self.reviews)

    def usd(self, store: Store, model: str) -> float | None:
        """Returns the price if the setting `model` names this model; None where no price is
        known.
        """
        settings = store.settings.model_copy(update={"model": model, "reflector_model": ""})
        observer = Budget(store, settings.model_of("observer"))
        reflector = Budget(store, settings.model_of("reflector"))
        out = self.short_sessions * short_sessions.USUAL_ANSWER_TOKENS
        short = observer.estimate(self.short, out=out)
        of_observer = (observer.estimate(self.observer), short)
        reviews = reflector.estimate(self.reviews, out=self.decisions)
        return total_price((*of_observer, reflector.estimate(self.reflector), reviews))


def overview_of(
    store: Store,
    origin: str,
    reflector_tokens: Sequence[int] = (),
    reviews_of: Callable[[int], tuple[list[int], int]] = lambda _: ([], 0),
) -> ModelOverview:
    """Returns what this machine offers, and what a model would be sent of the store.

    `origin` says where the observer's name comes from; `reflector_tokens` are the sizes of the
    questions about facts. `reviews_of` returns the sizes of those about the proposals that so many
    calls about sessions will bring, and of their answers together.
    """
    settings = store.settings
    by_project = dict(_due_calls(store))
    short = [size for calls in by_project.values() for size in calls.short]
    observer = [size for calls in by_project.values() for size in calls.long]
    packed = _pack(short)
    reviews, decisions = reviews_of(len(observer) + len(packed))
    about_facts = (tuple(reflector_tokens), tuple(reviews), decisions)
    due = DueQuestions(tuple(observer), tuple(packed), len(short), *about_facts)
    return ModelOverview(
        observer=settings.model_of("observer"),
        reflector=settings.model_of("reflector"),
        origin=origin,
        sent_to=_sent_to(settings),
        projects=tuple(_shares(store, by_project)),
        calls=len(due.tokens),
        tokens=sum(due.tokens),
        offers=tuple(find_offers(store, due)),
    )


def _pack(short: Sequence[int]) -> list[int]:
    """Returns the prompt tokens of each call about short sessions of these sizes: so many calls
    that both their prompts and their answers fit.
    """
    for_answers = ceil(len(short) * short_sessions.ANSWER_TOKENS / questions.MAX_TOKENS)
    for_prompts = ceil(sum(short) / TOKENS_A_CALL)
    count = max(for_answers, for_prompts)
    if not count:
        return []
    return [count_tokens(short_sessions.prompt()) + sum(short) // count] * count


def find_offers(store: Store, due: DueQuestions) -> Iterator[ModelOffer]:
    """Yields the harnesses, keys and local servers of this machine, with the price of what is due
    there.
    """
    inherited = harness_clients.inherited_variables(store.settings)
    for name in harness_clients.CLIENTS:
        missing = harness_clients.missing_of(name, inherited)
        state = missing or f"logged in ({harness_clients.login_of(name, inherited)})"
        about = {
            "title": harness_clients.CLIENTS[name].title,
            "plan": harness_clients.plan_of(name),
            "usd": due.usd(store, name),
        }
        sent_to = harness_clients.reader_of(name, inherited)
        yield ModelOffer(name, "harness", state, not missing, sent_to, **about)
    keys = [name for name in KEYS if os.environ.get(name)]
    if keys:
        usd = due.usd(store, KEY_MODEL)
        yield ModelOffer(KEY_MODEL, "key", f"{keys[0]} is set", True, "Anthropic", usd)
    with ThreadPoolExecutor(len(USUAL_PORTS)) as pool:
        for port, models in zip(USUAL_PORTS, pool.map(local_models, USUAL_PORTS), strict=True):
            url = f"http://127.0.0.1:{port}"
            more = f", {len(models) - MOST_SHOWN} more models" if len(models) > MOST_SHOWN else ""
            for model in models[:MOST_SHOWN]:
                state = f"answers on port {port} ({USUAL_PORTS[port]}?){more}"
                usd = due.usd(store, model)
                yield ModelOffer(model, "server", state, True, "this server", usd, url)


def local_models(port: int) -> list[str]:
    """Returns the models that a server on this port of this machine lists, if there is one."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS):
            pass
    except OSError:
        return []
    return listed_models(f"http://127.0.0.1:{port}", SECONDS)


def _sent_to(settings: Settings) -> str:
    """Returns who reads what the configured models are sent."""
    readers: dict[str, None] = {}
    for role in get_args(Role):
        harness = harness_of(settings.model_of(role))
        if harness:
            reader = harness_clients.reader_of(
                harness, harness_clients.inherited_variables(settings)
            )
            readers[f"{harness_clients.CLIENTS[harness].title} ({reader})"] = None
        elif settings.model_of(role) == AGENT:
            readers["the agents that you ask to distil"] = None
        elif settings.model_of(role) != RULES:
            readers[settings.url_of(role) or "https://api.anthropic.com"] = None
    return " and ".join(readers)


@dataclass(frozen=True)
class _ProjectCalls:
    """The estimated tokens of what is due about one project."""

    long: list[int]
    """Of each call."""
    short: list[int]
    """Of each short session, without the prompt."""


def _due_calls(store: Store) -> Iterator[tuple[str, _ProjectCalls]]:
    """Yields each project with windows that no model was asked about, and the estimated tokens of
    these questions.

    About a long session all its messages are sent, and quotes of tool outputs. About a short one it
    is what the owner wrote, and the message of the assistant right before.
    """
    columns = ["window_id", "project", "status", "day", "user_turn_count"]
    windows = asked_about(store.tables.read("windows", columns=columns).drop_nulls("day"))
    answered = store.tables.read("observer_answers", columns=["window_id"])
    length = pl.col("text").str.len_chars()
    messages = store.tables.scan("messages")
    is_page = pl.col("author").is_in(["file", "web"])
    limit = (
        pl.when(pl.col("kind") == "tool_call")
        .then(material.CALL_CHARS)
        .when(is_page)
        .then(material.PAGE_CHARS)
    )
    quote_length = pl.min_horizontal(length, limit.otherwise(material.RESULT_CHARS))
    long_chars = pl.when(pl.col("kind") == "text").then(length).otherwise(quote_length)
    long_tokens = (long_chars // CHARS_A_TOKEN + STAMP_TOKENS).sum()
    long = messages.group_by("window_id").agg(tokens=long_tokens)
    is_speech = pl.col("author").is_in(["owner", "assistant"]) & (pl.col("kind") == "text")
    is_owners = pl.col("author") == "owner"
    speech = messages.filter(is_speech).sort("window_id", "ordinal")
    speech = speech.filter(is_owners | is_owners.shift(-1).over("window_id"))
    assistant_length = pl.min_horizontal(length, short_sessions.ASSISTANT_CHARS)
    short_chars = pl.when(is_owners).then(length).otherwise(assistant_length)
    short_tokens = (short_chars // CHARS_A_TOKEN + STAMP_TOKENS).sum()
    short = speech.group_by("window_id").agg(short=short_tokens)
    due = windows.lazy().join(long, on="window_id").join(short, on="window_id", how="left")
    due = due.collect().join(answered, on="window_id", how="anti")
    for (project,), group in due.sort("project").group_by("project", maintain_order=True):
        sizes = map(_call_sizes, group.filter(status="observed")["tokens"])
        calls = chain.from_iterable(sizes)
        short_sizes = group.filter(status="short")["short"].drop_nulls()
        yield str(project), _ProjectCalls(list(calls), short_sizes.to_list())


def _shares(store: Store, due: Mapping[str, _ProjectCalls]) -> Iterator[ProjectShare]:
    """Yields every project with its share, the largest first."""
    windows = store.tables.read("windows", columns=["project", "session_id"])
    sessions = windows.group_by("project").agg(pl.col("session_id").n_unique())
    shares = []
    for project, count in sessions.iter_rows():
        calls = due.get(project, _ProjectCalls([], []))
        tokens = sum(calls.long) + sum(calls.short)
        numbers = (count, len(calls.long), len(calls.short), tokens)
        shares.append(ProjectShare(project, *numbers, store.settings.may_send(project)))
    yield from sorted(shares, key=lambda share: (-share.tokens, share.project))


def _call_sizes(tokens: int) -> list[int]:
    """Returns the prompt tokens of each call about a window of so many tokens."""
    count = max(ceil(tokens / TOKENS_A_CALL), 1)
    return [count_tokens(questions.prompt()) + tokens // count] * count
