"""Renders answers for people: one module for each kind of answer."""
