// How many threads the rivals of a shared object use.
#pragma once
#include <tbb/task_arena.h>

inline tbb::task_arena arena(1);

extern "C" void use_threads(int threads) {
  arena.terminate();
  arena.initialize(threads);
}
