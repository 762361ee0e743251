"""The verbs about the state of the store."""

from collections.abc import Callable
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING

from memory_assets.memory.opening import OpenStore, despite_damage
from memory_assets.schema import requests

if TYPE_CHECKING:
    from memory_assets.memory.verb_answers import Health, HealthReport, Status


class HealthVerbs(OpenStore):
    """Verbs about the state of the store, and the UI that shows it."""

    @despite_damage
    def status(self, request: requests.StatusRequest | None = None) -> "Status":
        """Returns the state of the store."""
        from memory_assets.services.health.status import status_of

        return status_of(self.store_or_unopened(), is_sample=self.is_sample)

    def health(self, *, is_deep: bool = False, night: date | None = None) -> "Health":
        """Returns counts and checks of the store.

        With `is_deep`, also reads every stored byte, or with `night` the part that the nightly run
        of that day reads.
        """
        from memory_assets.adapters.local_embedder import LocalEmbedder
        from memory_assets.runs.freshness import check_deadlines
        from memory_assets.services.health.doctor import Projections, examine
        from memory_assets.services.review.open_triage import tasks_of
        from memory_assets.services.search.corpus import open_texts, open_vectors

        store = self.store
        embedding_model = store.settings.embedding_model
        projections = Projections(
            model_version=lambda: LocalEmbedder(embedding_model).version,
            vector_ids=open_vectors(store).ids,
            text_ids=open_texts(store).ids,
        )
        tasks = tasks_of(store)
        deadlines = partial(check_deadlines, store)
        return examine(store, projections, tasks, deadlines=deadlines, is_deep=is_deep, night=night)

    @despite_damage
    def health_report(self) -> "HealthReport":
        """Returns the monthly health report as of now, with pictures; writes no file."""
        from memory_assets.runs.steps.maintain import health_inputs
        from memory_assets.stages.maintain.health_report import build_report

        return build_report(health_inputs(self.store))

    @despite_damage
    def last_heard(self) -> dict[str, datetime]:
        """Returns when each harness last sent an event."""
        if not self.exists:
            return {}
        import polars as pl

        sent = self.store.tables.read("events", columns=["harness", "sent_at"]).drop_nulls()
        latest = sent.group_by("harness").agg(pl.col("sent_at").max())
        return dict(latest.sort("harness").iter_rows())

    def serve_ui(
        self,
        port: int,
        tell: "Callable[[str], None]",
        page_port: int | None = None,
        *,
        is_service: bool = False,
    ) -> int:
        """Serves the Dagster UI with sensors and schedules, and the page if it has a port, until it
        ends; returns its exit code.

        Runs what becomes due meanwhile. `tell` shows a person the address, and problems of the UI
        and of these runs. A service is stopped by SIGTERM, so that this is no failure of it.
        """
        from memory_assets.runs.serving import Serving

        return Serving(self.store, port, tell, page_port).start().wait(is_service=is_service)
