"""PID and state-feedback control of any mechanism."""
