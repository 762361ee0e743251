"""Forgetting: what carries some words, taking them out of everything, and the search that proves it.

`sought` holds the words while a person asks, `carriers` opens whatever a store consists of, `search` counts what carries the
words, `erase` and the modules beside it take them out. What stays is a tombstone (`capture.tombstones`): hashes, never words.
"""
