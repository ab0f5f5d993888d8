// What a CUDA C++ user has today for the algorithms of monoscan::algo::on_gpu: CUB and cuSPARSE on one GPU.
// nvcc -O3 -std=c++17 -arch=sm_90 -Xcompiler -fopenmp -o cub_algorithms cub_algorithms.cu -lcusparse && ./cub_algorithms [--sizes LOG2,…]
// Prints: name, n, median ms, the copy of the bytes that must be read and written, and ratio to it. Data are those of
// benches/gpu/src/algorithms. Up to 2^20 elements results are compared with loops of the host.
#include <cub/cub.cuh>
#include <cusparse.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("CUDA error %s at %s:%d\n", cudaGetErrorString(e_), __FILE__, __LINE__); exit(1); } } while (0)
#define SK(x) do { cusparseStatus_t s_ = (x); if (s_ != CUSPARSE_STATUS_SUCCESS) { printf("cuSPARSE error %s at %s:%d\n", cusparseGetErrorString(s_), __FILE__, __LINE__); exit(1); } } while (0)

template <class F> double median_ms(F f) {
  cudaEvent_t a, b; CK(cudaEventCreate(&a)); CK(cudaEventCreate(&b));
  for (int i = 0; i < 3; i++) f();
  std::vector<float> t;
  for (int i = 0; i < 15; i++) { CK(cudaEventRecord(a)); f(); CK(cudaEventRecord(b)); CK(cudaEventSynchronize(b)); float ms; CK(cudaEventElapsedTime(&ms, a, b)); t.push_back(ms); }
  CK(cudaGetLastError()); CK(cudaEventDestroy(a)); CK(cudaEventDestroy(b));
  std::sort(t.begin(), t.end());
  return t[t.size() / 2];
}

uint64_t mix(uint64_t i) { uint64_t z = i * 0x9e3779b97f4a7c15ull; z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull; z = (z ^ (z >> 27)) * 0x94d049bb133111ebull; return z ^ (z >> 31); }

template <class T> struct Vec {
  T* p; size_t n;
  explicit Vec(size_t n) : n(n) { CK(cudaMalloc(&p, std::max<size_t>(n, 1) * sizeof(T))); }
  explicit Vec(const std::vector<T>& h) : Vec(h.size()) { CK(cudaMemcpy(p, h.data(), n * sizeof(T), cudaMemcpyHostToDevice)); }
  ~Vec() { cudaFree(p); }
  std::vector<T> host(size_t m) const { std::vector<T> h(m); CK(cudaMemcpy(h.data(), p, m * sizeof(T), cudaMemcpyDeviceToHost)); return h; }
};
template <class T, class F> std::vector<T> made(size_t n, F f) { std::vector<T> v(n);
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) v[i] = f(i); return v; }

bool bad = false;
void check(const char* name, bool right) { if (!right) { bad = true; printf("BAD: %s\n", name); } }

template <class Call> void run(const char* name, int power, double bytes, Call call) {
  size_t need = 0; CK(call(nullptr, need)); Vec<char> tmp(need);
  double ms = median_ms([&] { size_t s = need; CK(call(tmp.p, s)); });
  Vec<char> from(bytes / 2), to(bytes / 2);
  double copy = median_ms([&] { CK(cudaMemcpyAsync(to.p, from.p, bytes / 2, cudaMemcpyDeviceToDevice)); });
  printf("%-28s n=2^%-4.1f %9.4f ms   copy %8.4f ms  ratio %.3f\n", name, (double)power, ms, copy, copy / ms);
  fflush(stdout);
}

struct Positive { __host__ __device__ bool operator()(int x) const { return x > 0; } };
struct OfClass { uint32_t c; __host__ __device__ bool operator()(int x) const { return (uint32_t)x % 3 == c; } };
struct Larger { __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; } };

template <class K> void sorts(const char* name, int p, const std::vector<K>& h, bool descending = false) {
  size_t n = h.size(); Vec<K> in(h), out(n);
  run(name, p, 2.0 * sizeof(K) * n, [&](void* t, size_t& s) { return descending ? cub::DeviceRadixSort::SortKeysDescending(t, s, in.p, out.p, n) : cub::DeviceRadixSort::SortKeys(t, s, in.p, out.p, n); });
  if (p <= 20) { auto e = h; std::sort(e.begin(), e.end()); if (descending) std::reverse(e.begin(), e.end()); check(name, out.host(n) == e); }
}

// Keys with their places; of argsort the sorted keys are not asked for, and not counted as bytes.
template <class K> void pairs(const char* name, int p, double bytes, const std::vector<K>& h) {
  size_t n = h.size(); auto w = made<uint32_t>(n, [](size_t i) { return (uint32_t)i; });
  Vec<K> k(h), ko(n); Vec<uint32_t> v(w), vo(n);
  run(name, p, bytes * n, [&](void* t, size_t& s) { return cub::DeviceRadixSort::SortPairs(t, s, k.p, ko.p, v.p, vo.p, n); });
  if (p <= 20) { std::stable_sort(w.begin(), w.end(), [&](uint32_t a, uint32_t b) { return h[a] < h[b]; }); check(name, vo.host(n) == w); }
}

template <class K> void encodes(const char* name, int p, const std::vector<K>& x) {
  size_t n = x.size(); Vec<K> dx(x), v(n); Vec<uint32_t> l(n); Vec<size_t> count(1);
  std::vector<K> ev; std::vector<uint32_t> el;
  for (size_t i = 0; i < n; i++) if (i && x[i] == x[i - 1]) el.back()++; else { ev.push_back(x[i]); el.push_back(1); }
  run(name, p, sizeof(K) * n + (sizeof(K) + 4.0) * ev.size(), [&](void* t, size_t& s) { return cub::DeviceRunLengthEncode::Encode(t, s, dx.p, v.p, l.p, count.p, n); });
  check(name, v.host(ev.size()) == ev && l.host(el.size()) == el);
}

template <class F> std::vector<uint32_t> offsets(size_t rows, F length) { std::vector<uint32_t> o(rows + 1); for (size_t r = 0; r < rows; r++) o[r + 1] = o[r] + length(r); return o; }
// Rows of unequal length: the first has about as many elements as 4 in each row.
std::vector<uint32_t> skewed(size_t rows) { return offsets(rows, [=](size_t r) { return (uint32_t)(8 + 4 * rows / (r + 1)); }); }
// Rows of 1 to 4 elements, and one in the middle with as many as all others.
std::vector<uint32_t> halfInOne(size_t rows) {
  auto thin = [](size_t r) { return 1 + (uint32_t)(mix(r) & 3); };
  uint32_t others = 0; for (size_t r = 0; r < rows; r++) if (r != rows / 2) others += thin(r);
  return offsets(rows, [=](size_t r) { return r == rows / 2 ? others : thin(r); });
}
std::vector<uint32_t> uniform(size_t rows) { return offsets(rows, [](size_t) { return (uint32_t)8; }); }

// By either algorithm of cuSPARSE; the table has the faster one. Numbers are so small that all sums are exact.
template <class T> void spmv(const std::string& name, int p, const std::vector<uint32_t>& o) {
  size_t n = o.size() - 1, m = o[n]; const cudaDataType type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
  auto c = made<uint32_t>(m, [=](size_t i) { return (uint32_t)(mix(i) % n); }); auto v = made<T>(m, [](size_t i) { return (T)(mix(i) >> 62); }); auto x = made<T>(n, [](size_t i) { return (T)(mix(i) >> 62); });
  Vec<uint32_t> d(o), dc(c); Vec<T> dv(v), dx(x), dy(n);
  cusparseHandle_t h; SK(cusparseCreate(&h)); T one = 1, zero = 0;
  cusparseSpMatDescr_t A; cusparseDnVecDescr_t X, Y;
  SK(cusparseCreateCsr(&A, n, n, m, d.p, dc.p, dv.p, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
  SK(cusparseCreateDnVec(&X, n, dx.p, type)); SK(cusparseCreateDnVec(&Y, n, dy.p, type));
  for (auto alg : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
    size_t need; SK(cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero, Y, type, alg, &need));
    Vec<char> buffer(need);
    run((name + (alg == CUSPARSE_SPMV_CSR_ALG1 ? ".alg1" : ".alg2")).c_str(), p, (4.0 + sizeof(T)) * m + (4.0 + 2 * sizeof(T)) * n, [&](void* t, size_t& s) { s = 1; if (t) SK(cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero, Y, type, alg, buffer.p)); return cudaSuccess; });
    std::vector<T> e(n); for (size_t r = 0; r < n; r++) { double s = 0; for (uint32_t i = o[r]; i < o[r + 1]; i++) s += (double)v[i] * x[c[i]]; e[r] = (T)s; } check(name.c_str(), dy.host(n) == e);
  }
  cusparseDestroySpMat(A); cusparseDestroyDnVec(X); cusparseDestroyDnVec(Y); cusparseDestroy(h);
}

void at(int p) {
  size_t n = (size_t)1 << p; bool small = p <= 20;
  Vec<size_t> count(1);
  {
    auto x = made<int>(n, [](size_t i) { return (int)mix(i); }); auto f = made<uint8_t>(n, [](size_t i) { return mix(i + (1ull << 40)) & 1; });
    Vec<int> dx(x), out(n); Vec<uint8_t> df(f);
    size_t kept = std::accumulate(f.begin(), f.end(), (size_t)0);
    run("select.i32", p, 5.0 * n + 4.0 * kept, [&](void* t, size_t& s) { return cub::DeviceSelect::Flagged(t, s, dx.p, df.p, out.p, count.p, n); });
    if (small) { std::vector<int> e; for (size_t i = 0; i < n; i++) if (f[i]) e.push_back(x[i]); check("select", out.host(kept) == e && count.host(1)[0] == kept); }
    run("partition.i32", p, 9.0 * n, [&](void* t, size_t& s) { return cub::DevicePartition::Flagged(t, s, dx.p, df.p, out.p, count.p, n); });
    if (small) { auto e = x; std::vector<int> a, b; for (size_t i = 0; i < n; i++) (f[i] ? a : b).push_back(x[i]); std::reverse(b.begin(), b.end()); a.insert(a.end(), b.begin(), b.end()); check("partition", out.host(n) == a); }
    size_t positive = std::count_if(x.begin(), x.end(), Positive{});
    run("selectIf.i32", p, 4.0 * (n + positive), [&](void* t, size_t& s) { return cub::DeviceSelect::If(t, s, dx.p, out.p, count.p, n, Positive{}); });
    if (small) { std::vector<int> e; for (int a : x) if (a > 0) e.push_back(a); check("selectIf", out.host(positive) == e && count.host(1)[0] == positive); }
    // Those of no class that is asked for come in any order.
    Vec<int> first(n), second(n), two(2);
    run("partition3.i32", p, 8.0 * n, [&](void* t, size_t& s) { return cub::DevicePartition::If(t, s, dx.p, first.p, second.p, out.p, two.p, (int)n, OfClass{0}, OfClass{1}); });
    if (small) { std::vector<int> e[3]; for (int a : x) e[(uint32_t)a % 3].push_back(a); auto rest = out.host(e[2].size()); std::sort(rest.begin(), rest.end()); std::sort(e[2].begin(), e[2].end()); check("partition3", first.host(e[0].size()) == e[0] && second.host(e[1].size()) == e[1] && rest == e[2] && two.host(2) == std::vector<int>{(int)e[0].size(), (int)e[1].size()}); }
    auto k = made<uint32_t>(n, [](size_t i) { return (uint32_t)(i / 10); }); Vec<uint32_t> dk(k), uk(n / 10 + 1); Vec<int> us(n / 10 + 1);
    run("sumsByKey.u32.i32", p, 8.8 * n, [&](void* t, size_t& s) { return cub::DeviceReduce::ReduceByKey(t, s, dk.p, uk.p, dx.p, us.p, count.p, cuda::std::plus<>{}, n); });
    if (small) { std::vector<int> e(n / 10 + (n % 10 != 0)); for (size_t i = 0; i < n; i++) e[i / 10] = (int)((uint32_t)e[i / 10] + (uint32_t)x[i]); check("sumsByKey", us.host(e.size()) == e); }
    run("totalsByKey.u32.i32.max", p, 8.8 * n, [&](void* t, size_t& s) { return cub::DeviceReduce::ReduceByKey(t, s, dk.p, uk.p, dx.p, us.p, count.p, Larger{}, n); });
    if (small) { std::vector<int> e(n / 10 + (n % 10 != 0), INT32_MIN); for (size_t i = 0; i < n; i++) e[i / 10] = std::max(e[i / 10], x[i]); check("totalsByKey", us.host(e.size()) == e); }
    auto r = made<uint32_t>(n, [](size_t i) { return (uint32_t)(mix(i >> 2) & 0xffff); }); Vec<uint32_t> dr(r), ur(n);
    std::vector<uint32_t> er; std::vector<int> ex; for (size_t i = 0; i < n; i++) if (i == 0 || r[i] != r[i - 1]) { er.push_back(r[i]); ex.push_back(x[i]); }
    run("unique.u32", p, 4.0 * (n + er.size()), [&](void* t, size_t& s) { return cub::DeviceSelect::Unique(t, s, dr.p, ur.p, count.p, n); });
    check("unique", ur.host(er.size()) == er && count.host(1)[0] == er.size());
    run("uniqueByKey.u32.i32", p, 8.0 * (n + er.size()), [&](void* t, size_t& s) { return cub::DeviceSelect::UniqueByKey(t, s, dr.p, dx.p, ur.p, out.p, count.p, n); });
    check("uniqueByKey", ur.host(er.size()) == er && out.host(ex.size()) == ex && count.host(1)[0] == er.size());
  }
  encodes("encode.u8", p, made<uint8_t>(n, [](size_t i) { return (uint8_t)mix(i >> 2); }));
  encodes("encode.u16", p, made<uint16_t>(n, [](size_t i) { return (uint16_t)mix(i >> 2); }));
  encodes("encode.u32", p, made<uint32_t>(n, [](size_t i) { return (uint32_t)(mix(i >> 2) & 0xffff); }));
  encodes("encode.u64", p, made<uint64_t>(n, [](size_t i) { return mix(i >> 2); }));
  encodes("encode.u8.long", p, made<uint8_t>(n, [](size_t i) { return (uint8_t)mix(i >> 6); }));
  encodes("encode.u32.long", p, made<uint32_t>(n, [](size_t i) { return (uint32_t)mix(i >> 6); }));
  sorts("sort.u8", p, made<uint8_t>(n, [](size_t i) { return (uint8_t)mix(i); }));
  sorts("sort.u16", p, made<uint16_t>(n, [](size_t i) { return (uint16_t)mix(i); }));
  sorts("sort.u32", p, made<uint32_t>(n, [](size_t i) { return (uint32_t)mix(i); }));
  sorts("sort.u64", p, made<uint64_t>(n, [](size_t i) { return mix(i); }));
  sorts("sort.i32", p, made<int>(n, [](size_t i) { return (int)mix(i); }));
  sorts("sort.f32", p, made<float>(n, [](size_t i) { return (float)(int)mix(i); }));
  sorts("sort.f64", p, made<double>(n, [](size_t i) { return (double)(int64_t)mix(i); }));
  sorts("sort.u32.descending", p, made<uint32_t>(n, [](size_t i) { return (uint32_t)mix(i); }), true);
  sorts("sort.f64.descending", p, made<double>(n, [](size_t i) { return (double)(int64_t)mix(i); }), true);
  pairs("sortPairs.u32.u32", p, 16.0, made<uint32_t>(n, [](size_t i) { return (uint32_t)mix(i); }));
  pairs("argsort.f64", p, 12.0, made<double>(n, [](size_t i) { return (double)(int64_t)mix(i); }));
  {
    auto x = made<uint8_t>(n, [](size_t i) { return (uint8_t)mix(i); }); Vec<uint8_t> dx(x); Vec<uint32_t> counts(256);
    run("histogram.u8", p, n, [&](void* t, size_t& s) { return cub::DeviceHistogram::HistogramEven(t, s, dx.p, counts.p, 257, 0, 256, (int)n); });
    std::vector<uint32_t> e(256); for (uint8_t a : x) e[a]++; check("histogram", counts.host(256) == e);
  }
  if (p > 20) return;
  auto o = skewed(n);
  {
    size_t m = o[n]; Vec<uint32_t> d(o);
    auto x = made<int>(m, [](size_t i) { return (int)mix(i); }); Vec<int> dx(x), y(n);
    run("totalsByOffsets.i32", p, 4.0 * m + 8.0 * n, [&](void* t, size_t& s) { return cub::DeviceSegmentedReduce::Sum(t, s, dx.p, y.p, n, d.p, d.p + 1); });
    if (small) { std::vector<int> e(n); for (size_t r = 0; r < n; r++) { uint32_t s = 0; for (uint32_t i = o[r]; i < o[r + 1]; i++) s += (uint32_t)x[i]; e[r] = (int)s; } check("totalsByOffsets", y.host(n) == e); }
  }
  spmv<float>("spmv.f32", p, o); spmv<double>("spmv.f64", p, o);
  o = halfInOne(n); spmv<float>("spmv.f32.half", p, o); spmv<double>("spmv.f64.half", p, o);
  o = uniform(n); spmv<float>("spmv.f32.uniform", p, o); spmv<double>("spmv.f64.uniform", p, o);
}

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const char* sizes = argc == 3 && !strcmp(argv[1], "--sizes") ? argv[2] : "20,24,28";
  if (argc != 1 && argc != 3) { fprintf(stderr, "usage: cub_algorithms [--sizes LOG2,...]\n"); return 2; }
  cudaDeviceProp pr; CK(cudaGetDeviceProperties(&pr, 0)); printf("%s sm_%d%d  CUB %d\n", pr.name, pr.major, pr.minor, CUB_VERSION);
  for (const char* s = sizes; s; s = strchr(s, ','), s = s ? s + 1 : s) at(atoi(s));
  return bad;
}
