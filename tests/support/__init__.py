"""Helpers for several test packages: real servers, small populations."""
