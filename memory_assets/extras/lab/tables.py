"""The tables and the job of the lab."""

from memory_assets.extras.lab.records import CalibrationRow, EvaluationRow
from memory_assets.schema.declarations import Job, Table

TABLES = (
    Table("evaluation", "quality", ("evaluate",), "evaluation/3", EvaluationRow,
          made_from=("windows", "observations"), settings=("gold",)),
    Table("calibration", "quality", ("triage", "review"), "calibration/1", CalibrationRow,
          made_from=("verdicts", "observations", "proposals", "model_reviews", "decisions",
                     "entries"),
          every_run=True),
)  # fmt: skip
JOBS = (
    Job("evaluate", "Scoring observations",
        "Score the observations against the labelled sessions that `gold` names."),
)  # fmt: skip
