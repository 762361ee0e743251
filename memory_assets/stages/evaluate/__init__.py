"""Evaluate: how good is what was distilled, by people's labels and by its own sources.

It shares no rule with the stages that it measures: words are compared, evidence is weighed and repeats are found anew here.
"""
