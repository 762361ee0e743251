"""The outside world: each file implements one protocol and knows no rule."""
