"""What brings the store up to date, in order, and what-if runs in branches of it."""
