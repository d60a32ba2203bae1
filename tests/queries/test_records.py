"""What a digest's records promise, on the sample that other tests look at."""

from mydyno.queries.records import Digest

from .builders import measure, sample


def test_a_digest_comes_back_from_its_json() -> None:
    assert Digest.model_validate_json(sample().model_dump_json()) == sample()


def test_the_mean_of_nothing_is_not_0() -> None:
    assert measure([]).mean is None
    assert measure([1, 2, 6]).mean == 3


def test_the_groups_of_the_sample_come_to_its_total_by_time() -> None:
    found = sample()
    times = [each.query_time_us for each in found.groups]
    assert times == sorted(times, reverse=True)
    assert found.rest is not None
    assert sum(times) + found.rest.query_time_us == found.total.query_time_us
    assert sum(each.count for each in found.groups) + found.rest.count == found.total.count
    assert sum(each.entries for each in found.sources) == found.total.count + found.filtered
