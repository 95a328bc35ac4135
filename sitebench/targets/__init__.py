"""What the targets of every suite are made of: an open target, servers, TLS, ownership."""
