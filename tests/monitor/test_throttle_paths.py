from sitebench.monitor.throttle import ancestry


def test_a_group_lies_in_all_groups_around_it() -> None:
    assert ancestry("/a/b", "/") == ["/a/b", "/a", ""]
    assert ancestry("/", "/") == [""]


def test_a_container_sees_the_part_that_is_mounted() -> None:
    assert ancestry("/docker/ab/inner", "/docker/ab") == ["/inner", ""]
    assert ancestry("/docker/ab", "/docker/ab") == [""]


def test_a_group_outside_of_the_mount_cannot_be_read() -> None:
    assert ancestry("/../other", "/") == []
