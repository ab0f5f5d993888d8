// parlaylib's scan: a program of its own, since the library takes its number of threads from
// PARLAY_NUM_THREADS when it starts. Prints gigabytes read and written a second.
//
//   PARLAY_NUM_THREADS=4 target/peers/parlay_scan 22 26
#include <parlay/parallel.h>
#include <parlay/primitives.h>
#include <parlay/sequence.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Map {
  float a, b;
};

// The median of 15 rounds of `run`, in seconds.
template <class Run>
double seconds(Run run) {
  std::vector<double> all;
  for (int round = 0; round < 15; ++round) {
    const auto start = std::chrono::steady_clock::now();
    run();
    all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

void report(const char* name, const char* log2, double bytes, double time) {
  std::printf("parlaylib %-10s 2^%s %3zu threads %8.2f GB/s\n", name, log2, parlay::num_workers(), bytes / time / 1e9);
}

int main(int count, char** sizes) {
  for (int place = 1; place < count; ++place) {
    const std::size_t n = std::size_t(1) << std::atoi(sizes[place]);
    // Results take the place of the numbers: what the library returns otherwise is a new sequence, whose pages are new, too.
    auto x = parlay::tabulate(n, [](std::size_t i) { return std::int32_t(i % 17) - 8; });
    report("sum-i32", sizes[place], 8.0 * n, seconds([&] {
      parlay::scan_inclusive_inplace(x, parlay::plus<std::int32_t>());
    }));
    // Maps y → a·y + b, composed; of a result the loop keeps b alone.
    auto maps = parlay::tabulate(n, [](std::size_t i) { return Map{0.9f + 0.2f * float(i % 256) / 256, 1.0f}; });
    const auto compose = parlay::binary_op([](Map f, Map g) { return Map{f.a * g.a, g.a * f.b + g.b}; }, Map{1, 0});
    report("affine-f32", sizes[place], 16.0 * n, seconds([&] { parlay::scan_inclusive_inplace(maps, compose); }));
  }
}
