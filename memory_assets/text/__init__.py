"""Sentences, words, tokens and files: what every stage uses and no stage owns."""
