"""Coupled FMUs."""
