"""Errors: one tree, drawn in the docstring as it is."""

import inspect
import re

from memory_assets import errors


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    drawn = re.findall(r"^( *)[│├└─ ]*?(\w+Error)\b", errors.__doc__ or "", re.MULTILINE)
    classes = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}
    assert {name for _, name in drawn} == classes


def test_every_error_is_one_that_a_person_is_meant_to_read():
    classes = [value for _, value in inspect.getmembers(errors, inspect.isclass)]
    assert all(issubclass(value, errors.MemoryAssetsError) and value.__doc__ for value in classes)
