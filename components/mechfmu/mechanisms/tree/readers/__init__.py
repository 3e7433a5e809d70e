"""Robot files: URDF and TOML."""
