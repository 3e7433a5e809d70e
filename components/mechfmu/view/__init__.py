"""Plots, films and pages."""
