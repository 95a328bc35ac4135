"""One definition of an option for the command line, Locust and the web form."""
