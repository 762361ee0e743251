"""Answers written by hand, one of each dialect and of each way to spoil one; where properties and fuzzing begin."""

import html
import json

SEGMENTS = """<observations>
Date: 2026-03-02

<segment>
<narrative>The tests could not reach the database. The mount was stale.</narrative>
<facts>
- 🔴 [gate=allow confidence=0.92 category=jc:operations] Both NFS mounts require sudo to unmount when stale
- 🟡 (09:41) [gate=hold confidence=0.61 category=system-architecture] The volume needs an explicit server,
  and a path
- ✅ Fixtures moved to Parquet
</facts>
</segment>
<segment>
<narrative>Release notes.</narrative>
<facts>
* 🟢 [confidence=61% gate="allow"] `make ship` builds the release of version 2.1
</facts>
</segment>
</observations>
<current-task>Primary: the mount</current-task>
<suggested-response>Unmount it.</suggested-response>"""

FLAT = """<observations>
Date: 2026-02-15

* 🔴 (09:15) slog is for infra only
* 🟡 (14:02) The worker reads from Redis
* 🟢 (early in session) maybe later
</observations>"""

LIST = "Here is what I found:\n- Redis runs in Docker\n- the port is 6379\n1. one replica is enough"

LOG = json.dumps(
    {
        "hasMemory": True,
        "observations": "* 🔴 (10:00) Use uv\n* 🟡 CI runs lint\n",
        "usedObservationIds": ["mem_1"],
    }
)

OBJECTS = json.dumps(
    {
        "segments": [
            {
                "narrative": "Packages.",
                "facts": [
                    {"text": "Use uv", "gate": "allow", "confidence": 92, "priority": "high"}
                ],
            },
            {
                "narrative": "CI.",
                "facts": [{"text": "CI runs lint", "gate": "hold"}, "plain words of a fact"],
            },
        ],
        "currentTask": "the docs",
    },
    ensure_ascii=False,
)

WELL_FORMED = {"segments": SEGMENTS, "flat": FLAT, "log": LOG, "objects": OBJECTS}

SPOILT = {
    "escaped": html.escape(SEGMENTS),
    "escaped twice": html.escape(html.escape(SEGMENTS)),
    "fenced": f"```xml\n{SEGMENTS}\n```",
    "doubled": f"{SEGMENTS}\n{SEGMENTS}",
    "preamble": f"Sure, here it is:\n\n{SEGMENTS}",
    "epilogue": f"{SEGMENTS}\n\nLet me know if you want anything changed.",
    "carriage returns": SEGMENTS.replace("\n", "\r\n"),
    "Portuguese": SEGMENTS.replace("segment>", "segmento>").replace("narrative>", "narrativa>"),
    "Chinese": SEGMENTS.replace("facts>", "事实>").replace("segment>", "段落>"),
    "German": SEGMENTS.replace("observations>", "beobachtungen>").replace("facts>", "fakten>"),
    "capitals": SEGMENTS.replace("<segment>", "<SEGMENT id='1'>").replace("<facts>", "<Facts >"),
    "tasks first": "\n".join(reversed(SEGMENTS.split("\n</observations>\n"))),
    "facts before the narrative": SEGMENTS.replace(
        "<narrative>Release notes.</narrative>\n", ""
    ).replace(
        "</facts>\n</segment>\n</observations>",
        "</facts>\n<narrative>Release notes.</narrative>\n</segment>\n</observations>",
    ),
    "bold marks": SEGMENTS.replace("- 🔴", "- **🔴**").replace("* 🟢", "**🟢**"),
    "no end tags": SEGMENTS.replace("</facts>", "").replace("</segment>", ""),
}

OTHERS = {
    "list": LIST,
    "raw": "I am sorry, nothing worth keeping here.",
    "nothing": "<observations></observations>",
    "no memory": '{"hasMemory": false, "observations": ""}',
    "halves of characters": '{"observations": [{"text": "half \\ud83d of a mark"}]}',
    "fenced JSON": f"```json\n{OBJECTS}\n```",
    "nested": '{"a":' * 50,
    "open tags": "<segment " * 20 + "- 🔴 x" + "[a=" * 20,
}

SEEDS = {**WELL_FORMED, **SPOILT, **OTHERS}
