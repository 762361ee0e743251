"""What waits for a person's decision, and what a triage needs of the store."""
