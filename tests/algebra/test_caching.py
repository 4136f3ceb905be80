"""Caches of results on the objects that own them."""

from phlexible.algebra.caching import cached_on_owner


def test_results_are_cached_for_each_value_of_further_arguments():
    class Owner:
        calls = 0

        @cached_on_owner
        def power(self, exponent):
            self.calls += 1
            return [exponent]

    one, other = Owner(), Owner()
    assert one.power(2) is one.power(2) and one.power(3) == [3] and one.calls == 2
    assert one.power(2) is not other.power(2)
