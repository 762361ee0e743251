"""Optional capabilities, each in a folder of its own that can be deleted: `schema/extras.py`."""
