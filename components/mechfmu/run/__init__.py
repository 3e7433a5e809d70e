"""Running mechanisms and FMUs, and looking at what they did."""
