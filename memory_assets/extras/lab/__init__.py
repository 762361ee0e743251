"""The lab: what-if branches, the evaluation on labelled sessions, calibration."""

from typing import Any

from memory_assets.schema.extras import Extra

WHAT_IF = "extras.lab.what_if"

EXTRA = Extra(
    name="lab",
    commands={"lab": "cli:app"},
    answers={
        "lab eval": "extras.lab.gold:Evaluation",
        "lab calibration": "extras.lab.calibrate:Calibration",
        "lab what-if": [f"{WHAT_IF}:WhatIf", f"{WHAT_IF}:Estimate"],
        "lab what-if list": list[dict[str, Any]],
        "lab what-if show": f"{WHAT_IF}:WhatIf",
        "lab what-if adopt": f"{WHAT_IF}:Adopted",
        "lab what-if drop": {"name": str},
        "lab triggers": "stages.brief.due:Triggers",
    },
    tables="tables",
    checks="checks",
    methods={"evaluate": "evaluate:evaluate"},
    before_update="branches:finish_adoption",
)
