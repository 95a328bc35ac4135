"""Common parts of the suites' targets: an open target, servers, TLS, ownership."""
