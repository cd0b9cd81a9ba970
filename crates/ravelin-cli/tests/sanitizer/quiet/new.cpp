// Every operator new, also without memory, in several threads at once.
// case shared: none
// case static -static-libstdc++: none
// case quiet -fno-exceptions -DQUIET: none
// std: c++17
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>
#include "../turns.h"

struct alignas(64) Wide {
  char bytes[64];
};

static volatile size_t far_too_much = size_t(1) << 62;

static void *worker(void *number) {
  for (int i = 0; i < 200; i++) {
    auto *one = new int(i);
    auto *many = new long[100];
    auto *wide = new Wide;
    auto *wides = new Wide[3];
    auto *other = new (std::nothrow) int[10];
    memset(many, i, 100 * sizeof(long));
    memset(wides, i, 3 * sizeof(Wide));
    other[0] = *one;
    if (reinterpret_cast<uintptr_t>(wide) % 64 || reinterpret_cast<uintptr_t>(wides) % 64) abort();
    // Called by name: a compiler may leave out an expression whose block nobody uses.
    if (operator new[](far_too_much, std::nothrow)) abort();
#ifndef QUIET
    try {
      operator delete(operator new(far_too_much));
      abort();
    } catch (const std::bad_alloc &) {
    }
#endif
    std::vector<std::string> words(10, std::string(100, 'x'));
    delete one;
    delete[] many;
    delete wide;
    delete[] wides;
    delete[] other;
  }
  return number;
}

int main() {
  at_once(3, worker);
}
