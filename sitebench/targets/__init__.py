"""What every target has in common: TLS, ownership, serving until stopped."""
