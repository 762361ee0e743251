"""Dates that lie ahead, in the words of messages, and the triggers made from them."""
