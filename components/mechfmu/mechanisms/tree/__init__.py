"""Any tree of bodies and joints in space, from a URDF, xacro, SDF, MJCF or TOML file (docs/tree_format.md)."""
