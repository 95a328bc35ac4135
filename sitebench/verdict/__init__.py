"""What limited a point, and whether its figure can be trusted."""
