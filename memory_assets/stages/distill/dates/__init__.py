"""Finds dates ahead in messages and facts, and builds triggers from them."""
