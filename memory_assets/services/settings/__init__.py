"""The settings of a store, and which store is meant."""
