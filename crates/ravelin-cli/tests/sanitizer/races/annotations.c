// What the program tells about itself with the annotations that code bases carry.
// case nothing: race w r
// case acquire -DACQUIRE: none
// case happens -DHAPPENS: none
// case happens-elsewhere -DHAPPENS -DELSEWHERE: race w r
// case benign -DBENIGN: none
// case ignored-reads -DIGNORE_READS: none
// case ignored-writes -DIGNORE_WRITES: none
// case ignored-no-more -DIGNORE_ENDS: race w r
// case lock -DLOCK: none
// case readers -DLOCK -DREADERS: race w r
// case try-lock -DLOCK -DFAILED: race w r
// case lock-of-old -DOLD_LOCK: none
#include <sanitizer/tsan_interface.h>
#include <stdatomic.h>
#include "../turns.h"

void AnnotateHappensBefore(const char *file, int line, const volatile void *object);
void AnnotateHappensAfter(const char *file, int line, const volatile void *object);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *address, size_t size, const char *why);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock);
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long writes);
void AnnotateThreadName(const char *file, int line, const char *name);

static int data, here, elsewhere;

// A lock that nobody would believe in without the annotations. It has a block of the heap for each time it is locked,
// which is used again for other things.
static atomic_int held;
static int *block;

#ifdef READERS
#define HOW __tsan_mutex_read_lock
#else
#define HOW 0
#endif

static void lock(void) {
#ifdef LOCK
  __tsan_mutex_pre_lock(&held, HOW);
  while (atomic_exchange_explicit(&held, 1, RLX)) sched_yield();
  block = malloc(48);
  *block = 1;
#ifdef FAILED
  __tsan_mutex_post_lock(&held, __tsan_mutex_try_lock | __tsan_mutex_try_lock_failed, 0);
#else
  __tsan_mutex_post_lock(&held, HOW, 0);
#endif
#elif defined OLD_LOCK
  AnnotateRWLockAcquired(__FILE__, __LINE__, &held, 1);
#endif
}

static void unlock(void) {
#ifdef LOCK
  __tsan_mutex_pre_unlock(&held, HOW);
  free(block);
  atomic_store_explicit(&held, 0, RLX);
  __tsan_mutex_post_unlock(&held, HOW);
  int *other = malloc(48);
  *other = 1;
  if (*other == 2) block = other;
#elif defined OLD_LOCK
  AnnotateRWLockReleased(__FILE__, __LINE__, &held, 1);
#endif
}

static void writer(void) {
  AnnotateThreadName(__FILE__, __LINE__, "writer");
  lock();
#ifdef IGNORE_WRITES
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  data = 1; //@w
#ifdef IGNORE_WRITES
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
#endif
  unlock();
#ifdef ACQUIRE
  __tsan_release(&here);
#elif defined HAPPENS
  AnnotateHappensBefore(__FILE__, __LINE__, &here);
#endif
}

static void reader(void) {
#ifdef ACQUIRE
  __tsan_acquire(&here);
#elif defined ELSEWHERE
  AnnotateHappensAfter(__FILE__, __LINE__, &elsewhere);
#elif defined HAPPENS
  AnnotateHappensAfter(__FILE__, __LINE__, &here);
#elif defined IGNORE_READS || defined IGNORE_ENDS
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
#endif
#ifdef IGNORE_ENDS
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  lock();
  if (data != 1) abort(); //@r
  unlock();
}

int main(void) {
#ifdef BENIGN
  AnnotateBenignRaceSized(__FILE__, __LINE__, &data, sizeof data, "meant so");
#endif
  __tsan_mutex_create(&held, 0);
  AnnotateRWLockCreate(__FILE__, __LINE__, &held);
  IN_TURNS(writer, reader);
  AnnotateRWLockDestroy(__FILE__, __LINE__, &held);
  __tsan_mutex_destroy(&held, 0);
  (void)elsewhere;
}
