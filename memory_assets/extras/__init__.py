"""Optional capabilities, each in a folder that can be deleted; `schema/extras.py` reads them."""
