"""What several test packages share: real servers, small populations."""
