"""NumPy, SciPy and polars as rivals: runs and times a function whenever a line on standard input says so.

    load FILE cumsum int32|float32       x is what the file holds
    load FILE lfilter float32 B.. / A..  coefficients as scipy.signal.lfilter takes them
    load FILE group_sums float64         the first half of x are keys, in order
    load FILE group_variances float64    the same, divided by how many there are
    load FILE forward_fill float64       NaN is a value that is missing; 0 before all that are there
    load FILE backward_fill float64      the same, and 0 after all
    run TIMES                            answers with the nanoseconds of all runs together
    save FILE                            writes the last results
    forget, hello, bye

Each line gets one line in answer: `ok`, and a figure if there is one, or what went wrong.
"""

import sys
import time

import numpy
import scipy.signal


def cumsum(x, dtype):
    y = numpy.empty_like(x)

    def run():
        return numpy.cumsum(x, dtype=dtype, out=y)

    return run


def lfilter(x, b, a):
    b, a = numpy.array(b, dtype=x.dtype), numpy.array(a, dtype=x.dtype)

    def run():
        return scipy.signal.lfilter(b, a, x)

    return run


def by_key(x, of):
    # As many megabytes as the others together, which do without it.
    import polars

    keys, amounts = numpy.split(x, 2)
    keys = polars.Series(keys.astype(numpy.uint32)).set_sorted()
    groups = polars.DataFrame({"key": keys, "amount": amounts}).group_by("key", maintain_order=True)

    def run():
        return groups.agg(of(polars.col("amount")))["amount"].to_numpy()

    return run


def fill(x, strategy):
    import polars

    values = polars.Series(x).fill_nan(None)

    def run():
        return values.fill_null(strategy=strategy).fill_null(0.0).to_numpy()

    return run


class Scans:
    def __init__(self):
        self.forget()

    def load(self, file, function, dtype, *coefficients):
        self.forget()
        x = numpy.fromfile(file, dtype=dtype)
        if function == "cumsum":
            self.function = cumsum(x, dtype)
        elif function == "lfilter":
            slash = coefficients.index("/")
            self.function = lfilter(x, coefficients[:slash], coefficients[slash + 1 :])
        elif function == "group_sums":
            self.function = by_key(x, lambda amount: amount.sum())
        elif function == "group_variances":
            self.function = by_key(x, lambda amount: amount.var(ddof=0))
        elif function in ("forward_fill", "backward_fill"):
            self.function = fill(x, function.removesuffix("_fill"))
        else:
            raise ValueError(f"no function {function}")

    def run(self, times):
        function, times = self.function, int(times)
        start = time.perf_counter_ns()
        for _ in range(times):
            result = function()
        taken = time.perf_counter_ns() - start
        self.result = result
        return taken

    def save(self, file):
        self.result.tofile(file)

    def forget(self):
        self.function = self.result = None

    def hello(self):
        pass


def main():
    scans = Scans()
    for line in sys.stdin:
        request, *arguments = line.split()
        if request == "bye":
            break
        try:
            answer = getattr(scans, request)(*arguments)
            print("ok" if answer is None else f"ok {answer}", flush=True)
        except Exception as error:
            print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)


main()
