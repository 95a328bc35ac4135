"""HTTP for every suite of web servers: scenarios, addresses, the portable client."""
