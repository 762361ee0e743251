"""Declares sensors. A tick of a sensor or schedule that meets a damaged file is skipped."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import dagster as dg
from polars.exceptions import PanicException

from memory_assets.store.damage import is_damage, put_damaged_aside
from memory_assets.store.store import Store

Evaluation = Callable[..., Any]
Tick = dg.SensorEvaluationContext
StoreParam = dg.ResourceParam[Store]


def sensor(**options: Any) -> Callable[[Evaluation], dg.SensorDefinition]:
    """Declares the function as a sensor that is on from the start, with the options of Dagster."""
    declare = dg.sensor(default_status=dg.DefaultSensorStatus.RUNNING, **options)
    return lambda evaluate: declare(skip_if_damaged(evaluate))


def skip_if_damaged(evaluate: Evaluation) -> Evaluation:
    """Returns the function, which puts aside a damaged file that makes it fail, and names it as the
    reason to skip the tick. A later tick finds what has to be rebuilt.
    """

    @wraps(evaluate)
    def evaluate_or_skip(context: Any, store: Store) -> Any:
        try:
            return evaluate(context, store)
        except (Exception, PanicException) as error:
            damages = put_damaged_aside(store) if is_damage(error) else []
            if not damages:
                raise
            return dg.SkipReason(" ".join(damage.message for damage in damages))

    return evaluate_or_skip
