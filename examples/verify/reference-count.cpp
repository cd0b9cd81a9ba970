//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A shared object that is deleted by the last one who leaves. The broken one counts down with relaxed operations, so the
// object may be deleted while another thread still reads it.
#include <atomic>
#include <thread>

#ifdef BROKEN
constexpr auto leave = std::memory_order_relaxed;
#else
constexpr auto leave = std::memory_order_acq_rel;
#endif

struct shared {
  std::atomic<int> users{2};
  int value = 42;
};

static bool use(shared *object) {
  bool right = object->value == 42;
  if (object->users.fetch_sub(1, leave) == 1) delete object;
  return right;
}

int main() {
  shared *object = new shared;
  bool right = false;
  std::thread other([&] { right = use(object); });
  bool mine = use(object);
  other.join();
  return !(mine && right);
}
