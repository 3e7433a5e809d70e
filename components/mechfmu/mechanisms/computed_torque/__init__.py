"""Computed-torque and gravity-compensation control of a tree."""
