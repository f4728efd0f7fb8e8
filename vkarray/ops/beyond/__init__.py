"""What NumPy has besides the standard."""
