"""A day on which a friction was found is due again when the days after it have new messages; any other day is not."""

from datetime import timedelta

from memory_assets.runs.inputs import friction, friction_version
from memory_assets.schema.tables import TABLES
from memory_assets_tests.factories import message
from memory_assets_tests.small_store import DAY, small_store, write

TODAY, NEXT = DAY.isoformat(), (DAY + timedelta(days=1)).isoformat()


def test_new_messages_of_the_next_day_concern_what_was_found_alone():
    store, table = small_store(), TABLES["friction"]
    write(store, "messages", TODAY, message("Use uv.", 1))

    def versions() -> list[str]:
        return [
            friction_version(store, table, TODAY, [], has_friction=has_friction)
            for has_friction in (False, True)
        ]

    before = versions()
    assert before[0] == before[1]
    write(store, "messages", NEXT, message("Use uv.", 2, day=DAY + timedelta(days=1)))
    after = versions()
    assert after[0] == before[0] and after[1] != before[1]
    assert set(friction(store, table).values()) <= {
        *after,
        friction_version(store, table, NEXT, [], has_friction=False),
    }
