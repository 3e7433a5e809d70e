"""The same report for people (terminal, HTML) and for machines (JSON, JUnit)."""
