"""Tree: any tree of bodies and joints in space, from a URDF file or from a TOML file (docs/tree_format.md)."""
