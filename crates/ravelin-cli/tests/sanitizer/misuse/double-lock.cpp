// A member function locks the mutex of its object, and calls another one that does so, too.
// case cpp: double-lock again lock
// exit: any
#include <mutex>
#include <thread>
#include <unistd.h>

struct Counter {
  std::mutex mutex;
  int value = 0;
  void add() {
    std::lock_guard<std::mutex> guard(mutex); //@again
    value++;
  }
  void add_twice() {
    std::lock_guard<std::mutex> guard(mutex); //@lock
    add();
    add();
  }
};

int main() {
  static Counter counter;
  std::thread thread([] { counter.add_twice(); });
  usleep(200000);
  _exit(0);
}
