"""Finds the hosts of commands that the owner typed: a line that names no other host names no
stranger's.

Only commands that a harness recorded as typed by the person count (`! ssh build.acme.dev` in Claude
Code). What an agent ran, a tool printed or somebody pasted does not: text of others can make an
agent run a command.
"""

import re
from collections.abc import Collection

import polars as pl

from memory_assets.store.parquet_tables import ParquetTables

TYPED = "! "
"""Begins the text of a message that is a shell command of the owner."""

_NAME = r"([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)"
_HOSTS = re.compile(
    rf"(?i)\b[a-z][a-z0-9+]*://(?:[^\s/@]*@)?{_NAME}"
    rf"|(?<![\w./-])[\w.+-]+@(?=[a-z]|(?:\d+\.){{3}}\d){_NAME}(?=[:\s]|$)"
    rf"|\b(?:ssh|sftp|ping|mosh|telnet)(?: -\S+)* {_NAME}(?=[:\s]|$)"
    rf"|--?h(?:ost(?:name)?)?[= ]{_NAME}(?=[:\s]|$)"
)


def hosts_in(command: str) -> set[str]:
    """Returns the names and addresses of hosts in the command, in small letters."""
    return {name.lower() for groups in _HOSTS.findall(command) for name in groups if name}


def read_own_hosts(tables: ParquetTables) -> frozenset[str]:
    """Returns the hosts of all commands that the owner typed."""
    is_command = ~pl.col("is_user_turn") & pl.col("text").str.starts_with(TYPED)
    commands = tables.scan("messages").filter(is_command, author="owner").select("text")
    return frozenset().union(*map(hosts_in, commands.collect()["text"]))


def without_hosts(text: str, hosts: Collection[str]) -> str:
    """Returns the text with these hosts blanked, each with its scheme, user and port; a longer name
    stays.
    """
    if not hosts:
        return text
    names = "|".join(re.escape(name) for name in sorted(hosts, key=len, reverse=True))
    address = rf"(?i)(?<![\w@.:/-])(?:[a-z][a-z0-9+]*://)?(?:[\w.+-]+@)?(?:{names})(?::\d{{1,5}})?(?![\w@:-]|\.[\w-])"
    return re.sub(address, " ", text)
