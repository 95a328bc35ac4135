"""The suite for web servers: static files, and programs behind the server."""
