"""pi."""

import re

from memory_assets.harnesses.declaration import (
    EnforcedRule,
    Enforcement,
    Location,
    ReadHarness,
    Record,
    quoted,
    type_of,
)
from memory_assets.harnesses.pi.hooks import hook_parts
from memory_assets.harnesses.pi.reader import PiReader

_EXTENSION = """\
const forbidden = new RegExp({pattern});
export default function (pi) {{
  pi.on("tool_call", (event) => {{
    if (forbidden.test(String(event.input.command ?? ""))) {{
      return {{ block: true, reason: {reason} }};
    }}
  }});
}}
"""

SETTINGS = Location(".pi/agent", "PI_CODING_AGENT_DIR")


def is_record(record: Record) -> bool:
    """Returns whether pi writes such records."""
    if "id" not in record or not type_of(record):
        return False
    has_time = "timestamp" in record
    is_header = type_of(record) == "session" and ("cwd" in record or has_time)
    return is_header or ("parentId" in record and has_time)


def enforce(rule: EnforcedRule) -> Enforcement:
    """Returns an extension that blocks commands that begin so; it cannot ask."""
    names = "|".join(map(re.escape, rule.commands))
    pattern = quoted(rf"(?:^|[;&|(]\s*)(?:{names})(?!\S)")
    text = _EXTENSION.format(pattern=pattern, reason=quoted(rule.text))
    is_denied = names and not rule.asks
    return Enforcement(f".pi/extensions/{rule.id}.ts", "", text if is_denied else "")


HARNESS = ReadHarness(
    name="pi",
    title="pi",
    program="pi",
    settings=SETTINGS,
    transcripts=(Location("sessions", "PI_CODING_AGENT_SESSION_DIR", SETTINGS),),
    is_record=is_record,
    reader=PiReader,
    hook_parts=hook_parts,
    enforce=enforce,
)
