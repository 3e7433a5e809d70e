"""Algorithms that mechanisms share."""
