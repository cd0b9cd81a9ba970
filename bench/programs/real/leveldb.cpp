// leveldb: four threads put and get, one of them iterates now and then. Arguments: a folder, operations per thread.
#include "leveldb/db.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {
constexpr int kThreads = 4;
// The keys that are live stay few, so that work grows linearly with operations.
constexpr long kKeys = 512;

std::string Key(int thread, long number) {
  char key[32];
  std::snprintf(key, sizeof key, "%02d-%08ld", thread, number * 7919 % kKeys);
  return key;
}

void Work(leveldb::DB *db, int thread, long operations, std::atomic<int> *failures) {
  std::string value(100, static_cast<char>('a' + thread)), found;
  leveldb::WriteOptions write;
  for (long number = 0; number < operations; number++) {
    if (!db->Put(write, Key(thread, number), value).ok()) failures->fetch_add(1);
    if (!db->Get(leveldb::ReadOptions(), Key(thread, number), &found).ok() || found != value) failures->fetch_add(1);
    db->Get(leveldb::ReadOptions(), Key((thread + 1) % kThreads, number), &found);
    if (number % 1024 == 1023) {
      std::unique_ptr<leveldb::Iterator> entry(db->NewIterator(leveldb::ReadOptions()));
      entry->Seek(Key(thread, number));
      for (int step = 0; step < 256 && entry->Valid(); step++) entry->Next();
    }
  }
}
}  // namespace

int main(int count, char **words) {
  if (count != 3) return 2;
  std::string folder = std::string(words[1]) + "/leveldb";
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 512 << 10;
  leveldb::DestroyDB(folder, options);
  leveldb::DB *opened = nullptr;
  if (!leveldb::DB::Open(options, folder, &opened).ok()) return 1;
  std::unique_ptr<leveldb::DB> db(opened);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; thread++)
    threads.emplace_back(Work, db.get(), thread, std::atol(words[2]), &failures);
  for (auto &thread : threads) thread.join();
  db.reset();
  leveldb::DestroyDB(folder, options);
  return failures == 0 ? 0 : 1;
}
