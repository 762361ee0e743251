"""Sentences, words, search terms, files and vectors: what several stages use, and none owns."""
