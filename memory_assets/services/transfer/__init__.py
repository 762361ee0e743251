"""Backups and exports of a whole store, and stores made from them."""
