"""Evaluate: measures how good the distilled facts are, by people's labels and by their own sources.

It shares no rule with the stages that it measures: comparing words, weighing evidence and finding
repeats are implemented here.
"""
