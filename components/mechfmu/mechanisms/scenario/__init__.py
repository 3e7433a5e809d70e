"""A moving target and moving obstacles."""
