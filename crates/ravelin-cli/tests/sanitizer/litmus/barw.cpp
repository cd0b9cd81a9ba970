// The barriers of example 4.2 of Margalit et al., 2025, in C++.
// runs: 1
// case one-one -DLEFT=1 -DRIGHT=1: none
// case zero-zero -DLEFT=0 -DRIGHT=0: violation wx rx
// case zero-two -DLEFT=0 -DRIGHT=2: none
#include <atomic>
#include "../turns.h"

std::atomic<int> x, y;

static void left() {
  x.store(1, std::memory_order_release); //@wx
  turn_ends();
  ravelin::wait(y, LEFT, std::memory_order_acquire);
}

static void right() {
  y.store(1, std::memory_order_release);
  ravelin::wait(x, RIGHT, std::memory_order_acquire); //@rx
}

int main() {
  turn_function *functions[] = {left, right};
  // The left thread passes before the right one stores, unless it has to wait for it.
  if (LEFT == 0) {
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void *) -> void * { return left(), nullptr; }, nullptr);
    pthread_t other;
    pthread_create(
        &other, nullptr,
        [](void *) -> void * {
          usleep(50000);
          return right(), nullptr;
        },
        nullptr);
    pthread_detach(thread);
    pthread_detach(other);
    usleep(150000);
    exit(0);
  }
  in_turns(2, functions, 1);
}
