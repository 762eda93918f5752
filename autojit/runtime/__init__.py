"""Running plans: how values get in and out of compiled programs."""
