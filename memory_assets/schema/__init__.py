"""The records and schemas of all tables, and the protocols of the outside world."""
