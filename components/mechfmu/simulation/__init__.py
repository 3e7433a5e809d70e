"""Running mechanisms and FMUs: engines, integration, results."""
