"""Finds the messages that a model's fact rests on, and whose words they are."""
