"""The operation `login`: its accounts, the first login, lockout, and the cost of a login."""
