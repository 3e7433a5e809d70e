"""Bouncing ball."""
