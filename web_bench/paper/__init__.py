"""Tables and arithmetic of four papers on web servers, 1996 to 2000."""
