"""What Locust's web UI shows beside Locust's own: tabs, live charts, and every test recorded.

    session     the run file of one UI: a point per test, and the test that runs now
    live        what a test does, as series and rows; no I/O
    tabs        Locust's own extension points: extra tabs, and what its page polls for them
    routes      the live page, its data, and the downloads
    form        a posted form that is refused before anything starts
    login       who may look, with --web-login
    starting    `sitebench ils ui`: Locust in a process of its own, and a browser

Only the process that commands tests has a cockpit; a worker has none.
"""
