"""Tests of harnesses that take whole files in begin with what those of capture begin with."""

from memory_assets_tests.stages.capture.conftest import sources, store

__all__ = ["sources", "store"]
