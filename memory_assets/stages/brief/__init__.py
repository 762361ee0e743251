"""What the next session should know at once."""
