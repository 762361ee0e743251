"""The lab: what-if branches, the evaluation on labelled sessions, calibration."""

from memory_assets.schema.extras import Extra

EXTRA = Extra(
    name="lab",
    commands={"lab": "cli:app"},
    answers="cli:answer_types",
    tables="tables",
    builders="steps",
    inputs="inputs",
    checks="checks",
    methods={"evaluate": "gold:evaluate_store"},
    before_update="adoption:finish_adoption",
)
