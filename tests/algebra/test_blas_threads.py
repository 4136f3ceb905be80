"""OpenBLAS has one thread inside, and as many as before afterwards."""

from phlexible.algebra import blas_threads
from phlexible.algebra.blas_threads import one_blas_thread


def test_one_thread_until_the_last_one_leaves(monkeypatch):
    counts = [8, 3]
    libraries = [
        (lambda k=k: counts[k], lambda count, k=k: counts.__setitem__(k, count)) for k in range(len(counts))
    ]
    threads = blas_threads._Threads()
    threads.__dict__["_libraries"] = libraries
    monkeypatch.setattr(blas_threads, "_threads", threads)
    with one_blas_thread():
        assert counts == [1, 1]
        with one_blas_thread():
            assert counts == [1, 1]
        assert counts == [1, 1]
    assert counts == [8, 3]
    try:
        with one_blas_thread():
            raise ZeroDivisionError
    except ZeroDivisionError:
        assert counts == [8, 3]


def test_libraries_beside_numpy_and_scipy_obey():
    """Where they are an OpenBLAS: wheels of other systems bring another one, or none."""
    found = blas_threads._threads._libraries
    before = [get() for get, _ in found]
    with one_blas_thread():
        assert [get() for get, _ in found] == [1] * len(found)
    assert [get() for get, _ in found] == before
