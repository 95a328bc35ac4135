"""What four papers of 1996 to 2000 print of web servers, and its arithmetic."""
