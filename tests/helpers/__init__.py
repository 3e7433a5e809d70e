"""What tests share: cases, references, hosts, builders, and all tolerances."""
