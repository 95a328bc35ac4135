"""The operation `login`: who logs in and how, first logins, lockout, what a login costs."""
