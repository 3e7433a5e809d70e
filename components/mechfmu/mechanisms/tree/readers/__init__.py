"""Readers of robot files: URDF, xacro, SDF, MJCF and TOML; a writer of TOML."""
