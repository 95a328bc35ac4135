"""What `locust -f` is pointed at; thin."""
