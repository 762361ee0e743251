"""The words of languages, mostly of English.

There is a module each for changes of state, for opposites, for the forms of words, for other names
of things, and for the small words by which a language is recognised.
"""
