"""The controller of the wheeled cart."""
