"""The capacity planner: people that one machine serves, machines that a community needs."""
