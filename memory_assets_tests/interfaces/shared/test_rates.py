"""The write limit: so many within any minute for each token, counted only if allowed."""

from memory_assets.interfaces.shared.rates import WriteLimit


def test_a_write_too_many_waits_for_the_oldest_one():
    now = [100.0]
    limit = WriteLimit(2, lambda: now[0])
    assert [limit.take("a"), limit.take("a"), limit.take("a")] == [0, 0, 60]
    assert limit.take("b") == 0
    now[0] += 45.5
    assert limit.take("a") == 15
    now[0] += 14.5
    assert limit.take("a") == 0
