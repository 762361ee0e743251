"""Forgetting: finds everything in a store that contains given words, erases it, and verifies by a
second search.

`search` finds the words, `data_locations` reads and masks single files, `rows`, `id_map` and
`erase` remove the words from the store. Only a tombstone (`capture.tombstones`) is kept: keyed
hashes, never the words.
"""
