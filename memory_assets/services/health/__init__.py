"""Whether the store is whole and what is in it: `memory doctor` and `memory status`."""
