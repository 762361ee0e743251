"""The models that a store may ask: which there are, what they cost, and the questions to them."""
