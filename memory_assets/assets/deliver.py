"""The deliver stage as assets: what was sent through the spool, taken in once, and what was put aside."""

import json

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import bars, counts_of, table_asset, write_whole
from memory_assets.runs.pending import event_inputs
from memory_assets.schema import frames as schemas
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import FIELDS
from memory_assets.stages.deliver.inbox import ASIDE, PUT_ASIDE, Rules, moment_of, take_in
from memory_assets.store.ledger import Event
from memory_assets.store.store import Store

GROUP = "deliver"
DELIVER_VERSION = "deliver/1"
SPOOL_CHECK = "spool_is_read"
KINDS = tuple(name.removeprefix("memory/") for name in FIELDS)
SPOOLED = "spool-"


@table_asset("events", group=GROUP, version=DELIVER_VERSION, daily=False)
def events(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What harnesses, people and programs sent: each event once, in the order in which it was sent."""
    with store.lock():
        states = store.tables.read("decisions", columns=["proposal_id", "state"])
        rules = Rules(store.settings.clock(), spool.user_id(), dict(states.iter_rows()))
        taken = take_in(store.root, store.ledger, rules, mask=masking(tombstones_of(store)), actor=store.settings.owner)
        for reason in taken.reasons:
            context.log.warning(f"Put aside: {reason}")
        sent = [event for event in store.ledger.events(KINDS) if event.id.startswith(SPOOLED)]
        frame = schemas.frame_of("events", map(_sent, sent)).sort("sent_at", "event_id")
        return write_whole(
            store,
            "events",
            frame,
            event_inputs(sent),
            lines_read=taken.lines,
            bytes_read=taken.bytes,
            events_taken_in=taken.events,
            lines_put_aside=taken.put_aside,
            names=bars(counts_of(frame, "name")),
        )


@table_asset("dead_letters", group=GROUP, version=DELIVER_VERSION, daily=False, deps=["events"])
def dead_letters(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Lines of the spool that were put aside, with the reason and where each lies."""
    with store.lock():
        letters = store.ledger.events([PUT_ASIDE])
        frame = schemas.frame_of("dead_letters", map(_letter, letters)).sort("received_at", "letter_id")
        return write_whole(store, "dead_letters", frame, event_inputs(letters))


def _sent(event: Event) -> dict[str, object]:
    details = {name: value for name, value in event.payload.items() if name not in ("sent_at", "harness", "surface")}
    return {
        "event_id": event.id,
        "name": f"memory/{event.kind}",
        "subject": event.target,
        "harness": event.payload.get("harness"),
        "details": json.dumps(details, sort_keys=True, ensure_ascii=False),
        "sent_at": moment_of(event.payload["sent_at"]),
        "received_at": event.at,
    }


def _letter(event: Event) -> dict[str, object]:
    return {"letter_id": event.target, **event.payload, "received_at": event.at}


def spool_evaluation(root: str) -> dg.AssetCheckResult:
    """Returns whether the spool is taken in, and if not, since when and what to do."""
    wrong = spool.alarm(root)
    waiting = spool.unread(root)
    return dg.AssetCheckResult(
        passed=wrong is None,
        metadata={
            "waiting_bytes": sum(end - start for start, end in waiting.values()),
            "waiting_files": len(waiting),
            **({"problem": wrong} if wrong else {}),
        },
    )


@dg.asset_check(asset="events", name=SPOOL_CHECK, description="Nothing waits in the spool for hours, and it is small.")
def spool_is_read(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Looks at the spool; the sensor does, too, so that it turns red where no run does."""
    return spool_evaluation(str(store.root))


def _put_aside(store: Store, parts: list[str] | None) -> pl.DataFrame:
    letters = store.tables.read("dead_letters", columns=["letter_id", "reason", "name", "file", "received_at"])
    aside = store.root / spool.FOLDER / ASIDE
    return letters.filter([(aside / file).is_file() for file in letters["file"]])


ASSETS = [events, dead_letters]
CHECKS = [
    *(schema_check(table) for table in ("events", "dead_letters")),
    *(no_secrets_check(table) for table in ("events", "dead_letters")),
    spool_is_read,
    rows_check(
        "dead_letters",
        "nothing_was_put_aside",
        "Every line of the spool could be understood; what you have read below `spool/aside/` you may delete.",
        _put_aside,
        blocking=False,
    ),
]
