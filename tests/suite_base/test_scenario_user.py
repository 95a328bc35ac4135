"""The user classes of a scenario file: Locust imports a locustfile under another name."""

import pytest

from tests.support.in_locust import in_locust

FILE = '[[operation]]\nget = "/"\n'


@pytest.mark.parametrize(
    ("package", "others"), [("ps_bench", 5), ("ils_bench", 6), ("web_bench", 1)]
)
def test_operations_of_a_suite_use_the_user_classes_of_its_locustfile(
    package: str, others: int
) -> None:
    found = in_locust(f"""
        import json
        import {package}.locustfile
        from argparse import Namespace
        from locust import events
        from locust.env import Environment
        from locust.util.load_locustfile import load_locustfile
        import {package}.suite

        path = str({package}.suite.SUITE.locustfile_path())
        users, _ = load_locustfile(path)
        operations = {package}.suite.SUITE.operations
        classes = [each.user_class for each in operations.values()]
        assert set(users) == set([*classes, "FileUser"])
        # A second import yields the same classes, because Locust has a locustfile under another
        # name.
        assert all(vars({package}.locustfile)[name] is users[name] for name in users)

        def left(**options):
            environment = Environment(user_classes=list(users.values()))
            environment.available_user_classes = dict(users)
            names = dict.fromkeys(
                ("worker", "user_classes", "scenario", "path", "mix", "filter")
            )
            environment.parsed_options = Namespace(**(names | options))
            for each in events.init._handlers:
                if each.__module__ in ("sitebench.suite_base.scenario_user", "{package}.users"):
                    each(environment=environment)
            return [each.__name__ for each in environment.user_classes]

        print(json.dumps([left(scenario="site.toml"), left(), left(worker=True)]))
    """)
    with_file, without, of_worker = found
    # The worker has no option of its own, and runs the user class that its master names.
    assert {"FileUser", *without} <= set(of_worker)
    assert with_file == ["FileUser"]
    assert "FileUser" not in without
    assert len(without) == others
