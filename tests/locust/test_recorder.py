"""The verdict of a test in Locust uses other points of its run file."""

from tests.support.in_locust import in_locust


def test_upper_bound_of_the_target_uses_another_load_of_the_run() -> None:
    alone, beside, evidence = in_locust(
        """
        import json
        from msgspec.structs import replace
        from types import SimpleNamespace

        from sitebench.locust.recorder import Subject
        from tests.support.points import a_result, a_spec, a_tally, a_use

        tally = a_tally()
        tally.cpu_ns = (2_000_000_000,)  # The load generator is used up.
        known = {"workers": (), "used_up_s": None, "sent": 0, "with_starts": lambda counts: tally}
        windows = SimpleNamespace(measured=tally, use=lambda: a_use(0.6), **known)
        counts, there = [("lookup", "lookup")], ("127.0.0.1", 1)
        subject = Subject(a_spec(), dict, None, 1, there, counts, True, lambda: None, {})
        lighter = replace(a_result(a_spec(users=4), 4_000), use=a_use(0.35))
        alone = subject.result(a_spec(), windows).verdict
        beside = subject.result(a_spec(), windows, [lighter]).verdict
        print(json.dumps([alone.at_most_per_s, beside.at_most_per_s, beside.evidence]))
        """
    )
    assert beside > 2 * alone
    assert "87.5 us with 18% of them used, and 30 us with 30% of them used" in evidence
