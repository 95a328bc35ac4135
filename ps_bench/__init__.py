"""The personalized site: who is served what, how much of it, and what it costs."""
