// Locks at the place of destroyed ones: initialised by a function, by a value, or in memory that was freed.
// std: c++17
// case kinds: none
#include <pthread.h>
#include <cstdlib>
#include <cstring>
#include <new>
#include <mutex>
#include <shared_mutex>
#include <thread>

static pthread_rwlock_t lock;
static pthread_spinlock_t spin;
static int shared;

static void in_both(void (*work)()) {
  std::thread one(work), other(work);
  one.join();
  other.join();
}

static void uses_lock() {
  pthread_rwlock_wrlock(&lock);
  shared++;
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
}

static void uses_spin() {
  pthread_spin_lock(&spin);
  shared++;
  pthread_spin_unlock(&spin);
}

static std::shared_mutex *standard;

static void uses_standard() {
  std::unique_lock<std::shared_mutex> guard(*standard);
  shared++;
}

int main() {
  pthread_rwlock_init(&lock, nullptr);
  in_both(uses_lock);
  pthread_rwlock_destroy(&lock);
  pthread_rwlock_init(&lock, nullptr);
  in_both(uses_lock);
  pthread_rwlock_destroy(&lock);
  lock = PTHREAD_RWLOCK_INITIALIZER;
  in_both(uses_lock);
  pthread_rwlock_destroy(&lock);
  std::memset(&lock, 0, sizeof lock);
  in_both(uses_lock);
  for (int i = 0; i < 3; i++) {
    pthread_spin_init(&spin, 0);
    in_both(uses_spin);
    pthread_spin_destroy(&spin);
  }
  for (int i = 0; i < 3; i++) {
    // A lock of C++ is initialised without a call, where one of POSIX was destroyed.
    void *memory = std::malloc(sizeof(std::shared_mutex));
    auto *posix = static_cast<pthread_rwlock_t *>(memory);
    pthread_rwlock_init(posix, nullptr);
    pthread_rwlock_destroy(posix);
    standard = new (memory) std::shared_mutex;
    in_both(uses_standard);
    standard->~shared_mutex();
    std::free(memory);
  }
}
