/* Markers for Ravelin's sanitizer, for C99 and C++11 or later with gcc or clang.
 *
 * A thread that waits in a loop may read an old value and go round once more; that is no bug, but without a marker it
 * looks like any other stale read. The markers say what a loop waits for, and which kind of compare-exchange is meant
 * (clang's instrumentation does not tell). They do the same with and without the sanitizer; the calls that tell the
 * runtime are made only in code compiled for it, and only if it is there, so a program that uses them also links with
 * the stock runtime of -fsanitize=thread.
 *
 *   RAVELIN_WAIT(pointer, value, order)           returns once a load of *pointer has given value
 *   RAVELIN_BCAS(pointer, old, new, order)        returns once a compare-exchange from old to new has succeeded
 *   RAVELIN_CAS_STRONG(pointer, expected, desired, success, failure)
 *   RAVELIN_CAS_WEAK(pointer, expected, desired, success, failure)
 *                                                 one compare-exchange: whether it succeeded; if not, *expected
 *                                                 becomes what was read
 *   ravelin_verify_begin()                        `ravelin verify` explores what happens from here on; what came before
 *                                                 happens in one order only. The first call counts
 *   ravelin_verify_end()                          and what comes after this call happens in one order, too
 *
 * A pointer may be to an _Atomic object (C), to a std::atomic (C++), or to a plain object that is accessed by
 * __atomic builtins, of at most 8 bytes. Orders are memory_order_… or __ATOMIC_…, written as constants. In C++ there
 * are also functions: ravelin::wait(object, value, order), ravelin::bcas(object, old, new, order),
 * ravelin::cas_strong and ravelin::cas_weak(object, expected, desired, success, failure), where object is a reference
 * to a std::atomic or a pointer as above.
 *
 * A failed attempt of WAIT or BCAS is no event of the program: nothing may depend on how many there were.
 */
#ifndef RAVELIN_H
#define RAVELIN_H

#include <sched.h>

#if defined(__SANITIZE_THREAD__)
#define RAVELIN_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RAVELIN_WATCHED 1
#endif
#endif
#ifndef RAVELIN_WATCHED
#define RAVELIN_WATCHED 0
#endif

/* Part of the place that is marked, for debuggers and reports. */
#if defined(__clang__)
#define RAVELIN_INLINE static inline __attribute__((always_inline, nodebug, unused))
#else
#define RAVELIN_INLINE static inline __attribute__((always_inline, artificial, unused))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if RAVELIN_WATCHED
/* Until __ravelin_wait_end, loads of `size` bytes at `address` wait for `value` (its bytes, then zeros). */
extern void __ravelin_wait_begin(const volatile void *address, unsigned long long value, unsigned size)
    __attribute__((weak));
/* Until __ravelin_wait_end, compare-exchanges at `address` are repeated until one succeeds. */
extern void __ravelin_bcas_begin(const volatile void *address) __attribute__((weak));
/* The wait is over. */
extern void __ravelin_wait_end(void) __attribute__((weak));
/* The next compare-exchange of the calling thread is strong, or (0) may fail spuriously. */
extern void __ravelin_next_cas(int strong) __attribute__((weak));
/* Runs of `ravelin verify` begin here. */
extern void __ravelin_verify_begin(void) __attribute__((weak));
/* They end here. */
extern void __ravelin_verify_end(void) __attribute__((weak));
#endif

RAVELIN_INLINE void ravelin_verify_begin(void) {
#if RAVELIN_WATCHED
  if (__ravelin_verify_begin) __ravelin_verify_begin();
#endif
}

RAVELIN_INLINE void ravelin_verify_end(void) {
#if RAVELIN_WATCHED
  if (__ravelin_verify_end) __ravelin_verify_end();
#endif
}

RAVELIN_INLINE void ravelin_wait_begin_(const volatile void *address, unsigned long long value, unsigned size) {
#if RAVELIN_WATCHED
  if (__ravelin_wait_begin) __ravelin_wait_begin(address, value, size);
#else
  (void)address, (void)value, (void)size;
#endif
}

RAVELIN_INLINE void ravelin_bcas_begin_(const volatile void *address) {
#if RAVELIN_WATCHED
  if (__ravelin_bcas_begin) __ravelin_bcas_begin(address);
#else
  (void)address;
#endif
}

RAVELIN_INLINE void ravelin_wait_end_(void) {
#if RAVELIN_WATCHED
  if (__ravelin_wait_end) __ravelin_wait_end();
#endif
}

RAVELIN_INLINE void ravelin_next_cas_(int strong) {
#if RAVELIN_WATCHED
  if (__ravelin_next_cas) __ravelin_next_cas(strong);
#else
  (void)strong;
#endif
}

/* One round of a loop that waits: the processor is told at first, the operating system after a while. */
RAVELIN_INLINE void ravelin_pause_(unsigned *rounds) {
  if (++*rounds % 32 != 0) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
  } else {
    sched_yield();
  }
}

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus

/* The type of *pointer without _Atomic and other qualifiers: the comma turns the object into its value. */
#define RAVELIN_TYPE_(pointer) __typeof__((void)0, *(pointer))
/* Both compilers then take the pointer in their __atomic builtins. */
#define RAVELIN_PLAIN_(pointer) ((volatile RAVELIN_TYPE_(pointer) *)(pointer))

#define RAVELIN_WAIT(pointer, value, order)                                                                            \
  __extension__({                                                                                                      \
    volatile RAVELIN_TYPE_(pointer) *ravelin_place_ = RAVELIN_PLAIN_(pointer);                                         \
    RAVELIN_TYPE_(pointer) ravelin_wanted_ = (value);                                                                  \
    unsigned long long ravelin_bytes_ = 0;                                                                             \
    unsigned ravelin_rounds_ = 0;                                                                                      \
    __builtin_memcpy(&ravelin_bytes_, &ravelin_wanted_,                                                                \
                     sizeof ravelin_wanted_ <= 8 ? sizeof ravelin_wanted_ : 8);                                        \
    ravelin_wait_begin_(ravelin_place_, ravelin_bytes_, (unsigned)sizeof ravelin_wanted_);                             \
    while (__atomic_load_n(ravelin_place_, (int)(order)) != ravelin_wanted_) ravelin_pause_(&ravelin_rounds_);         \
    ravelin_wait_end_();                                                                                               \
  })

#define RAVELIN_BCAS(pointer, old, new, order)                                                                         \
  __extension__({                                                                                                      \
    volatile RAVELIN_TYPE_(pointer) *ravelin_place_ = RAVELIN_PLAIN_(pointer);                                         \
    RAVELIN_TYPE_(pointer) const ravelin_old_ = (old), ravelin_new_ = (new);                                           \
    RAVELIN_TYPE_(pointer) ravelin_expected_ = ravelin_old_;                                                           \
    unsigned ravelin_rounds_ = 0;                                                                                      \
    ravelin_bcas_begin_(ravelin_place_);                                                                               \
    while (!__atomic_compare_exchange_n(ravelin_place_, &ravelin_expected_, ravelin_new_, 0, (int)(order),             \
                                        __ATOMIC_RELAXED)) {                                                           \
      ravelin_expected_ = ravelin_old_;                                                                                \
      ravelin_pause_(&ravelin_rounds_);                                                                                \
    }                                                                                                                  \
    ravelin_wait_end_();                                                                                               \
  })

#define RAVELIN_CAS_(pointer, expected, desired, weak, success, failure)                                               \
  (ravelin_next_cas_(!(weak)), __atomic_compare_exchange_n(RAVELIN_PLAIN_(pointer), (expected), (desired), (weak),     \
                                                           (int)(success), (int)(failure)))
#define RAVELIN_CAS_STRONG(pointer, expected, desired, success, failure)                                               \
  RAVELIN_CAS_(pointer, expected, desired, 0, success, failure)
#define RAVELIN_CAS_WEAK(pointer, expected, desired, success, failure)                                                 \
  RAVELIN_CAS_(pointer, expected, desired, 1, success, failure)

#else /* C++ */

#include <atomic>

#if defined(__clang__)
#define RAVELIN_TEMPLATE inline __attribute__((always_inline, nodebug))
#else
#define RAVELIN_TEMPLATE inline __attribute__((always_inline, artificial))
#endif

namespace ravelin {

/* An argument that is converted and takes no part in finding out T. */
template <typename T> struct exactly { typedef T type; };

template <typename T> RAVELIN_TEMPLATE unsigned long long bytes_of(const T &value) {
  static_assert(sizeof(T) <= 8, "Ravelin's markers take objects of at most 8 bytes");
  unsigned long long bytes = 0;
  __builtin_memcpy(&bytes, &value, sizeof(T));
  return bytes;
}

template <typename T>
RAVELIN_TEMPLATE void wait(const std::atomic<T> &object, typename exactly<T>::type value, std::memory_order order) {
  unsigned long long const wanted = bytes_of<T>(value);
  unsigned rounds = 0;
  ravelin_wait_begin_(&object, wanted, sizeof(T));
  while (bytes_of<T>(object.load(order)) != wanted) ravelin_pause_(&rounds);
  ravelin_wait_end_();
}

template <typename T>
RAVELIN_TEMPLATE void wait(const std::atomic<T> *object, typename exactly<T>::type value, std::memory_order order) {
  wait(*object, value, order);
}

template <typename T, typename Order>
RAVELIN_TEMPLATE void wait(const volatile T *object, typename exactly<T>::type value, Order order) {
  unsigned long long const wanted = bytes_of<T>(value);
  unsigned rounds = 0;
  ravelin_wait_begin_(object, wanted, sizeof(T));
  while (bytes_of<T>(__atomic_load_n(object, static_cast<int>(order))) != wanted) ravelin_pause_(&rounds);
  ravelin_wait_end_();
}

template <typename T>
RAVELIN_TEMPLATE void bcas(std::atomic<T> &object, typename exactly<T>::type before, typename exactly<T>::type after,
                           std::memory_order order) {
  T expected = before;
  unsigned rounds = 0;
  ravelin_bcas_begin_(&object);
  while (!object.compare_exchange_strong(expected, after, order, std::memory_order_relaxed)) {
    expected = before;
    ravelin_pause_(&rounds);
  }
  ravelin_wait_end_();
}

template <typename T>
RAVELIN_TEMPLATE void bcas(std::atomic<T> *object, typename exactly<T>::type before, typename exactly<T>::type after,
                           std::memory_order order) {
  bcas(*object, before, after, order);
}

template <typename T, typename Order>
RAVELIN_TEMPLATE void bcas(volatile T *object, typename exactly<T>::type before, typename exactly<T>::type after,
                           Order order) {
  T expected = before;
  unsigned rounds = 0;
  ravelin_bcas_begin_(object);
  while (!__atomic_compare_exchange_n(object, &expected, after, false, static_cast<int>(order), __ATOMIC_RELAXED)) {
    expected = before;
    ravelin_pause_(&rounds);
  }
  ravelin_wait_end_();
}

template <typename T>
RAVELIN_TEMPLATE bool cas_strong(std::atomic<T> &object, T &expected, typename exactly<T>::type desired,
                                 std::memory_order success, std::memory_order failure) {
  ravelin_next_cas_(1);
  return object.compare_exchange_strong(expected, desired, success, failure);
}

template <typename T>
RAVELIN_TEMPLATE bool cas_weak(std::atomic<T> &object, T &expected, typename exactly<T>::type desired,
                               std::memory_order success, std::memory_order failure) {
  ravelin_next_cas_(0);
  return object.compare_exchange_weak(expected, desired, success, failure);
}

template <typename T>
RAVELIN_TEMPLATE bool cas_strong(std::atomic<T> *object, T *expected, typename exactly<T>::type desired,
                                 std::memory_order success, std::memory_order failure) {
  return cas_strong(*object, *expected, desired, success, failure);
}

template <typename T>
RAVELIN_TEMPLATE bool cas_weak(std::atomic<T> *object, T *expected, typename exactly<T>::type desired,
                               std::memory_order success, std::memory_order failure) {
  return cas_weak(*object, *expected, desired, success, failure);
}

template <typename T, typename Success, typename Failure>
RAVELIN_TEMPLATE bool cas_strong(volatile T *object, T *expected, typename exactly<T>::type desired, Success success,
                                 Failure failure) {
  ravelin_next_cas_(1);
  return __atomic_compare_exchange_n(object, expected, desired, false, static_cast<int>(success),
                                     static_cast<int>(failure));
}

template <typename T, typename Success, typename Failure>
RAVELIN_TEMPLATE bool cas_weak(volatile T *object, T *expected, typename exactly<T>::type desired, Success success,
                               Failure failure) {
  ravelin_next_cas_(0);
  return __atomic_compare_exchange_n(object, expected, desired, true, static_cast<int>(success),
                                     static_cast<int>(failure));
}

} // namespace ravelin

#define RAVELIN_WAIT(pointer, value, order) ::ravelin::wait(pointer, value, order)
#define RAVELIN_BCAS(pointer, old, new_, order) ::ravelin::bcas(pointer, old, new_, order)
#define RAVELIN_CAS_STRONG(pointer, expected, desired, success, failure)                                               \
  ::ravelin::cas_strong(pointer, expected, desired, success, failure)
#define RAVELIN_CAS_WEAK(pointer, expected, desired, success, failure)                                                 \
  ::ravelin::cas_weak(pointer, expected, desired, success, failure)

#endif
#endif
