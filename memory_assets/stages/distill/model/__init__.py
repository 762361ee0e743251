"""The observer with a model: questions, stored answers and their parser."""
