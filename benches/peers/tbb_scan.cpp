// oneTBB's parallel_scan, with a body for each workload as its documentation says to write one: a first pass over a range
// only reduces it, a final pass writes results, and reverse_join puts an earlier range in front of a later one.
#include "arena.hpp"

#include <cstddef>
#include <cstdint>
#include <immintrin.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_scan.h>

using Range = tbb::blocked_range<std::size_t>;

// Scans n elements. Work has a State with a default that is the identity, and
//   step(state, i)           the state after element i
//   join(earlier, later)     both states, one after the other
//   write(state, i)          the result of element i
template <class Work> struct Body {
  const Work& work;
  typename Work::State state{};

  explicit Body(const Work& work) : work(work) {}
  Body(Body& other, tbb::split) : work(other.work) {}

  template <class Tag> void operator()(const Range& range, Tag) {
    auto s = state;
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      s = work.step(s, i);
      if (Tag::is_final_scan()) work.write(s, i);
    }
    state = s;
  }
  void reverse_join(Body& earlier) { state = work.join(earlier.state, state); }
  void assign(Body& other) { state = other.state; }
};

template <class Work> static void scan(const Work& work, std::size_t n) {
  arena.execute([&] {
    Body<Work> body(work);
    // No task smaller than a few microseconds.
    tbb::parallel_scan(Range(0, n, 4096), body);
  });
}

template <class T> struct Sum {
  using State = T;
  const T* x;
  T* y;
  T step(T s, std::size_t i) const { return s + x[i]; }
  T join(T a, T b) const { return a + b; }
  void write(T s, std::size_t i) const { y[i] = s; }
};

// Signed sums wrap, as those they are compared with.
template <> inline std::int32_t Sum<std::int32_t>::step(std::int32_t s, std::size_t i) const {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(s) + static_cast<std::uint32_t>(x[i]));
}
template <> inline std::int32_t Sum<std::int32_t>::join(std::int32_t a, std::int32_t b) const {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

template <class T> struct Affine {
  struct State {
    T a = 1, b = 0;
  };
  const T *a, *b;
  T* y;
  State step(State s, std::size_t i) const { return {a[i] * s.a, a[i] * s.b + b[i]}; }
  State join(State p, State q) const { return {q.a * p.a, q.a * p.b + q.b}; }
  void write(State s, std::size_t i) const { y[i] = s.b; }
};

struct Segmented {
  struct State {
    bool head = false;
    std::uint32_t sum = 0;
  };
  const bool* heads;
  const std::int32_t* x;
  std::int32_t* y;
  State step(State s, std::size_t i) const { return join(s, {heads[i], static_cast<std::uint32_t>(x[i])}); }
  State join(State p, State q) const { return {p.head || q.head, q.head ? q.sum : p.sum + q.sum}; }
  void write(State s, std::size_t i) const { y[i] = static_cast<std::int32_t>(s.sum); }
};

// Maps of 16 states, composed by a byte permutation.
struct Maps {
  struct State {
    __m128i to = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  };
  const __m128i* moves;
  const std::uint8_t* x;
  std::uint8_t* y;
  State step(State s, std::size_t i) const { return {_mm_shuffle_epi8(_mm_loadu_si128(moves + x[i]), s.to)}; }
  State join(State p, State q) const { return {_mm_shuffle_epi8(q.to, p.to)}; }
  void write(State s, std::size_t i) const { y[i] = static_cast<std::uint8_t>(_mm_extract_epi8(s.to, 0)); }
};

extern "C" {
void sum_i32(const std::int32_t* x, std::int32_t* y, std::size_t n) { scan(Sum<std::int32_t>{x, y}, n); }
void sum_f32(const float* x, float* y, std::size_t n) { scan(Sum<float>{x, y}, n); }
void affine_f32(const float* a, const float* b, float* y, std::size_t n) { scan(Affine<float>{a, b, y}, n); }
void affine_f64(const double* a, const double* b, double* y, std::size_t n) { scan(Affine<double>{a, b, y}, n); }
void segmented_i32(const bool* heads, const std::int32_t* x, std::int32_t* y, std::size_t n) {
  scan(Segmented{heads, x, y}, n);
}
void states(const std::uint8_t* moves, const std::uint8_t* x, std::uint8_t* y, std::size_t n) {
  scan(Maps{reinterpret_cast<const __m128i*>(moves), x, y}, n);
}
}
