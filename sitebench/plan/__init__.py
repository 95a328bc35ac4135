"""The capacity planner: people that a machine serves, and machines that a community needs."""
