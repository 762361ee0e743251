"""What a question is answered from, and what is shown at prompts or completed in a shell."""
