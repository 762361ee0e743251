"""The words of a language, one module a concept: changes of state, opposites, forms of words, other
names of things, small words that tell a language.
"""
