"""How many people a machine serves, and how many machines a community needs."""
