"""The planner as a spreadsheet that recalculates."""
