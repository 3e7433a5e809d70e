"""Live pages: a mechanism, or a system of them, that runs in a web page as WebAssembly."""
