"""The local page for the owner of the store: `memory serve page`."""
