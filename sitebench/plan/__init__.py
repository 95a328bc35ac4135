"""The capacity planner: how many people a machine serves, and machines a community needs."""
