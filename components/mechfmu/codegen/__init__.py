"""From recorded equations to compiled C."""
