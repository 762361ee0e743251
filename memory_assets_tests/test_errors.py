"""Errors: one tree, drawn in the docstring as it is."""

import inspect
import re

from memory_assets import errors

CLASSES = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if value.__module__ == errors.__name__
]


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    drawn = re.findall(r"^ *[│├└─ ]*?(\w+Error)\b", errors.__doc__ or "", re.MULTILINE)
    assert sorted(drawn) == sorted(value.__name__ for value in CLASSES)


def test_every_error_is_one_that_a_person_is_meant_to_read():
    assert all(issubclass(value, errors.MemoryAssetsError) and value.__doc__ for value in CLASSES)
