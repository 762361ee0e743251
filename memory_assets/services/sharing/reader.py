"""Who asks a shared memory with a token."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reader:
    """A person, the project they ask in, and what their token allows."""

    person: str
    project: str = ""
    scopes: tuple[str, ...] = ()
