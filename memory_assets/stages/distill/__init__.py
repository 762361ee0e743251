"""Distill: turns messages into segments, observations with verdicts, and the daily log."""
