// Stands in for google-benchmark: leveldb's tests declare benchmarks beside their tests, which do not run here.
#pragma once

namespace benchmark {

struct State {
  struct Iterator {
    bool operator!=(Iterator) const { return false; }
    void operator++() {}
    int operator*() const { return 0; }
  };
  int range(int) const { return 0; }
  long iterations() const { return 1; }
  void SetLabel(...) {}
  Iterator begin() { return {}; }
  Iterator end() { return {}; }
};

struct Declared {
  Declared *Arg(int) { return this; }
};

inline void RunSpecifiedBenchmarks() {}

}  // namespace benchmark

#define BENCHMARK(function) static benchmark::Declared *declared_##function = (new benchmark::Declared)
