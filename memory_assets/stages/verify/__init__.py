"""Whether what a text names is still there: names, and where they are looked up."""
