"""What Locust's web UI shows beside Locust's own: tabs, live charts, and every test recorded.

    session       the run file of one process: a point per test
    live          what a test does, as series and rows; no I/O
    state         what there is to show just now, verdict included
    tabs          Locust's own extension points: extra tabs, and what its page polls for them
    routes        the live page, its data, and the downloads
    form, guard   a posted form that is refused before anything starts
    login         who may look, with --web-login
    cockpit       joins all of these with Locust's web UI and the bridge
    starting      `sitebench ils ui`: this process becomes a Locust

Only the process that commands tests has a cockpit; a worker has none.
"""
