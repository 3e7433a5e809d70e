"""Link chain: n rods in a plane."""
