// Both accesses come before anything else that the threads do; of the earlier one, too, place and size are known.
// case c: race w/8 r/8
// std: c++17
#include <thread>
#include "../turns.h"

struct Account {
  long balance = 0;
  void deposit(long amount) { balance = amount; } //@w
  long show() const { return balance; }           //@r
};

static Account account;
static volatile long shown;

int main() {
  std::thread first([] {
    turn_begins(0);
    account.deposit(1);
    turn_ends();
  });
  std::thread second([] {
    turn_begins(1);
    shown = account.show();
    turn_ends();
  });
  first.join();
  second.join();
}
