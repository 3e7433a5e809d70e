"""Meshes of robot files: found, read, simplified."""
