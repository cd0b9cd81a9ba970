// moodycamel's queue for one producer and one consumer.
#include <readerwriterqueue/readerwriterqueue.h>
#include <thread>

int main() {
  const long items = 1000;
  moodycamel::ReaderWriterQueue<long> queue(15);
  long sum = 0;
  std::thread producer([&] {
    for (long item = 1; item <= items; item++) queue.enqueue(item);
  });
  std::thread consumer([&] {
    long item;
    for (long taken = 0; taken < items;) {
      if (queue.try_dequeue(item)) sum += item, taken++;
      else std::this_thread::yield();
    }
  });
  producer.join();
  consumer.join();
  return sum != items * (items + 1) / 2;
}
