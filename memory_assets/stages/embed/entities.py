"""Recognises entities in a text: files, commands, flags, packages, services, hosts, people, decisions, tickets, identifiers.

Takes a text, returns mentions with their kind and usual name. Precision comes first: only a known shape (`shapes`) or a listed
name (`names`) is an entity; a plain English word never is, backticks or not. Knows nothing of memories.
"""

from functools import lru_cache

from memory_assets.schema.records import EntityKind
from memory_assets.schema.tables import version_of
from memory_assets.stages.embed import names, shapes
from memory_assets.stages.embed.mention import Mention, Recogniser, code_spans

ENTITIES_VERSION = version_of("mentions")

LOCAL_KINDS: frozenset[EntityKind] = frozenset(
    {"file", "folder", "flag", "adr", "ticket", "branch", "commit", "identifier", "variable"}
)
"""Kinds whose names are local to a project: its README.md is not another project's."""

LONGEST_NAME = 120

RECOGNISERS: tuple[Recogniser, ...] = (
    shapes.find_urls,
    shapes.find_paths,
    shapes.find_numbered,
    names.find_commands,
    shapes.find_packages,
    shapes.find_hosts,
    shapes.find_flags,
    names.find_known,
    shapes.find_people,
    shapes.find_identifiers,
    shapes.find_commits,
)
"""In order of precedence; a path is never read as an identifier."""


@lru_cache(maxsize=16_384)
def mentions_in(text: str) -> tuple[Mention, ...]:
    """Returns the mentions of the text, in order; of overlapping ones that of the first recogniser."""
    code = code_spans(text)
    taken: list[Mention] = []
    for recognise in RECOGNISERS:
        for mention in recognise(text, code):
            is_free = not any(mention.start < other.end and other.start < mention.end for other in taken)
            if is_free and len(mention.name) <= LONGEST_NAME:
                taken.append(mention)
    return tuple(sorted(taken, key=lambda mention: mention.start))


def mentions_of_name(name: str) -> tuple[Mention, ...]:
    """Returns what a single name is, as if it were between backticks."""
    return mentions_in(f"`{name.strip(' `')}`")
