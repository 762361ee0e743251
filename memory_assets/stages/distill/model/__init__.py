"""The observer that uses a model: questions, stored answers and their parser."""
