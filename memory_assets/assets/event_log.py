"""Dagster's event log on SQLite, with connections that stay open.

Dagster keeps one database per run and one index over all runs. It opens and closes a connection for
every event. Closing the last connection to a database in WAL mode copies the WAL into the database
and waits for the disk. This class keeps the connections open. Files, tables and SQL are Dagster's
own, so that Dagster's `SqliteEventLogStorage` can read the same log.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import sqlalchemy as db
import sqlalchemy.event
from dagster import EventLogEntry, StringSource

# Dagster has no public names for its storage, which dagster.yaml names like this, and for what its
# methods get.
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationPlanned,
)
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._serdes import ConfigurableClassData

MOST_OPEN = 8
"""Most databases that stay open: enough for the index, the runs in progress and those that the UI
shows. The least recently used is closed.
"""

SYNCHRONOUS = "PRAGMA synchronous=NORMAL"
"""Commits reach the operating system at once, and the disk at each checkpoint. So a killed process
loses no event. A power failure may lose the last events, but leaves a readable log, because
Dagster's databases are in WAL mode.
"""


BUSY_SECONDS = 30
"""How long a write waits for that of another process, as in Dagster."""


class PooledEventLogStorage(SqliteEventLogStorage):
    """Stores events in `history/runs` below DAGSTER_HOME, through one connection to each run's
    database and one to the index.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._connections: OrderedDict[tuple[int, str], tuple[db.Connection, int]] = OrderedDict()
        """Connection and inode, by process and database, least recently used first."""
        self._blank = b""
        """The bytes of an empty database of a run. Copying them takes a hundredth of the time of
        Dagster's migrations.
        """
        self._schema: set[str] = set()
        """Tables, columns and migrations that the index has. Dagster asks for them at every event.
        """
        super().__init__(base_dir, inst_data)

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Returns the configuration: `home`, which is DAGSTER_HOME."""
        return {"home": StringSource}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:
        """Opens the log where Dagster's own storage keeps it by default."""
        return cls(str(Path(config_value["home"], "history", "runs")), inst_data)

    def store_event(self, event: EventLogEntry) -> None:
        """Stores the event, and touches the run's database for the UI, which watches that file.

        Without this, a new row would change only the file of the WAL.
        """
        super().store_event(event)
        os.utime(self.path_for_shard(event.run_id))

    def _store_asset_check_evaluation_planned(
        self, event: EventLogEntry, event_id: int | None
    ) -> None:
        """Notes a planned check once for the run, as it is evaluated: Dagster would note it for
        each partition, and these rows would stay planned.
        """
        planned = event.get_dagster_event()
        check = planned.asset_check_planned_data.asset_check_key
        of_run = AssetCheckEvaluationPlanned(asset_key=check.asset_key, check_name=check.name)
        event = event._replace(dagster_event=planned._replace(event_specific_data=of_run))
        super()._store_asset_check_evaluation_planned(event, event_id)

    def has_table(self, table_name: str) -> bool:
        """Returns whether the index has the table."""
        return self._once(
            f"table {table_name}", lambda: super(PooledEventLogStorage, self).has_table(table_name)
        )

    def has_secondary_index(self, name: str) -> bool:
        """Returns whether the migration of that name was made."""
        return self._once(
            f"migration {name}",
            lambda: super(PooledEventLogStorage, self).has_secondary_index(name),
        )

    def _has_asset_key_col_on_connection(self, conn: db.Connection, column_name: str) -> bool:
        has_column = super()._has_asset_key_col_on_connection
        return self._once(f"column {column_name}", lambda: has_column(conn, column_name))

    def _once(self, what: str, is_there: Callable[[], bool]) -> bool:
        """Returns whether the index has it; asks no more once it does.

        Nothing is ever removed from the schema.
        """
        if what not in self._schema and is_there():
            self._schema.add(what)
        return what in self._schema

    @contextmanager
    def _connect(self, shard: str) -> Iterator[db.Connection]:
        with self._db_lock:
            connection = self._connection_to(shard)
            with connection.begin():
                yield connection

    def _connection_to(self, shard: str) -> db.Connection:
        """Returns the connection to the shard, which is Dagster's name for the database of a run.

        A child of a fork opens connections of its own, because two processes must not use the same
        connection of SQLite.
        """
        key = (os.getpid(), shard)
        path = self.path_for_shard(shard)
        present = self._connections.pop(key, None)
        inode = _inode(path)
        if present is not None and present[1] != inode:
            # The file was deleted or replaced. What this connection would write would be lost.
            _disconnect(present[0])
            present = None
        if present is None:
            connection = self._open(shard).connect()
            present = (connection, _inode(path))
        self._connections[key] = present
        self._close(self._own_keys()[:-MOST_OPEN])
        return present[0]

    def _own_keys(self) -> list[tuple[int, str]]:
        """Returns the keys of the connections of this process, the least recently used first."""
        return [key for key in self._connections if key[0] == os.getpid()]

    def _close(self, keys: Iterable[tuple[int, str]]) -> None:
        for key in keys:
            connection, _ = self._connections.pop(key)
            _disconnect(connection)

    def _open(self, shard: str) -> db.Engine:
        """Opens the shard's database; makes it from the blank one, or by Dagster's migrations."""
        path = Path(self.path_for_shard(shard))
        is_new = not path.exists()
        is_ready = not is_new and shard in self._initialized_dbs
        if is_new and self._blank:
            is_ready = _make_file(path, self._blank)
        engine = db.create_engine(
            self.conn_string_for_shard(shard), connect_args={"timeout": BUSY_SECONDS}
        )
        sqlalchemy.event.listen(
            engine, "connect", lambda connection, _: connection.execute(SYNCHRONOUS).close()
        )
        if not is_ready:
            self._initdb(engine)
        if is_new and not self._blank:
            self._blank = _blank_of(engine)
        self._initialized_dbs.add(shard)
        return engine

    def dispose(self) -> None:
        """Closes every database that this process opened."""
        super().dispose()
        with self._db_lock:
            self._close(self._own_keys())


def _disconnect(connection: db.Connection) -> None:
    connection.close()
    connection.engine.dispose()


def _inode(path: str) -> int:
    """Returns the file's inode; 0 where there is no file."""
    try:
        return Path(path).stat().st_ino
    except FileNotFoundError:
        return 0


def _blank_of(engine: db.Engine) -> bytes:
    """Returns the database's bytes; empty if another process has stored an event in it already."""
    with engine.begin() as connection:
        is_blank = not connection.scalar(db.text("SELECT count(*) FROM event_logs"))
        sqlite: Any = connection.connection.dbapi_connection
        return sqlite.serialize() if is_blank else b""


def _make_file(path: Path, content: bytes) -> bool:
    """Makes the file with all of its content at once.

    Returns False if it exists, or if the disk has no hard links.
    """
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        os.link(temporary, path)
    except OSError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    return True
