// Four threads copy and drop shared pointers, look things up under a shared mutex and change them under its own.
// Argument: how often.
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

struct Account {
  std::mutex mutex;
  long balance = 0;
  std::string owner;
};

static long rounds;
static std::shared_mutex mutex;
static std::map<int, std::shared_ptr<Account>> accounts;

static void worker(unsigned seed) {
  for (long i = 0; i < rounds; i++) {
    seed = seed * 1103515245 + 12345;
    int key = static_cast<int>(seed >> 16) % 128;
    std::shared_ptr<Account> account;
    {
      std::shared_lock<std::shared_mutex> lock(mutex);
      auto found = accounts.find(key);
      if (found != accounts.end()) account = found->second;
    }
    if (!account || seed >> 24 == 0) {
      account = std::make_shared<Account>();
      account->owner = "owner of account number " + std::to_string(key);
      std::unique_lock<std::shared_mutex> lock(mutex);
      accounts[key] = account;
    }
    std::vector<std::shared_ptr<Account>> copies;
    for (int j = 0; j < 3; j++) copies.push_back(account);
    std::lock_guard<std::mutex> lock(account->mutex);
    account->balance += static_cast<long>(account->owner.size()) + account.use_count();
  }
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  rounds = std::atol(arguments[1]);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; i++) threads.emplace_back(worker, i + 1);
  for (auto &thread : threads) thread.join();
}
