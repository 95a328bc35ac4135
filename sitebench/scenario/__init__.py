"""Scenario files: TOML that describes the actions of users. The engine parses the files."""
