"""Filling directories with people, and removing them again."""
