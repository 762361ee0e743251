"""Distill: messages become segments, observations with verdicts, and the daily log."""

DISTILL_VERSION = "distill/2"
"""Moves on when a rule of this stage changes what it makes of the same messages: days made by an earlier one are stale."""

ANSWERS_VERSION = "answers/1"
"""Version of the way a model is asked, apart from the prompt and the model, which every row names."""

LESSONS_VERSION = "lessons/1"
"""Version of the rules that find lessons."""
