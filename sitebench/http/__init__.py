"""HTTP for every suite of web servers: scenarios and addresses."""
