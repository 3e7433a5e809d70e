"""Plots, animations, and what notebooks show."""
