"""Scenario files: what users do, in TOML. The engine reads them; commands ask here."""
