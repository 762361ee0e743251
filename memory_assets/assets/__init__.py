"""Dagster and nothing else: each stage's functions as assets, their checks, and what starts
them.
"""
