"""Our part of Locust's web UI: tabs, live charts, and a record of every test.

    session       the run file of one process: a point per test
    live          a test's present figures, as series and rows; no I/O
    state         what pages show now, verdict included
    tabs          Locust's own extension points: the tab of the live page, and the start form
    routes        the live page, its data, and the downloads
    form, guard   the refusal of requests and forms before anything starts
    login         the login of --web-login
    setup         adds all of these to Locust's web UI
    starting      the command `ui`: this process becomes a Locust

Only the process that commands tests has a web UI; a worker does not.
"""
