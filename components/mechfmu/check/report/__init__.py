"""Reports for people (terminal, HTML) and for programs (JSON, JUnit, SARIF)."""
