//! A test-and-test-and-set spinlock: a thread looks at the lock with relaxed loads until it is free, and only then
//! tries an exchange. Two threads take the lock twice.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
  atomic_bool held;
} spinlock_t;

struct account {
  spinlock_t lock;
  int balance;
};

static struct account account = {.balance = 10};

static void spin_lock(spinlock_t *lock) {
  for (;;) {
    if (!atomic_exchange_explicit(&lock->held, true, memory_order_acquire)) return;
    while (atomic_load_explicit(&lock->held, memory_order_relaxed)) {
    }
  }
}

static void spin_unlock(spinlock_t *lock) { atomic_store_explicit(&lock->held, false, memory_order_release); }

static void *pay_in(void *argument) {
  struct account *to = argument;
  for (int i = 0; i < 2; i++) {
    spin_lock(&to->lock);
    to->balance += 3;
    spin_unlock(&to->lock);
  }
  return NULL;
}

static void *draw(void *argument) {
  struct account *from = argument;
  for (int i = 0; i < 2; i++) {
    spin_lock(&from->lock);
    from->balance -= 1;
    spin_unlock(&from->lock);
  }
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, pay_in, &account);
  pthread_create(&two, NULL, draw, &account);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  assert(account.balance == 14);
  return 0;
}
