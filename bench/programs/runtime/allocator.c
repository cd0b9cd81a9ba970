// What an allocator does under stress: 25 threads own pages with a list of free blocks each; blocks are handed to other
// threads and come back through atomic lists, with a seq_cst fence now and then. 60,000 atomic locations.
// Argument: how often each takes a block.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 25, PAGES = 100, BLOCKS = 22, LOCATIONS = THREADS * PAGES * (BLOCKS + 2), SHELF = 1000 };

struct block {
  _Atomic(struct block *) next; // atomic, because a block that was freed elsewhere is linked by whoever frees it
};

struct page {
  _Atomic(struct block *) returned; // freed by other threads
  struct block *free;               // the owner's
  atomic_int used;
  struct block blocks[BLOCKS];
};

static long rounds;
static struct page pages[THREADS][PAGES];
static _Atomic(struct block *) shelf[SHELF]; // blocks on their way from thread to thread
_Static_assert(LOCATIONS >= 60000, "as many atomic locations as promised");

static struct page *page_of(struct block *block) {
  size_t offset = (size_t)((char *)block - (char *)pages);
  return (struct page *)((char *)pages + offset / sizeof(struct page) * sizeof(struct page));
}

static struct block *take(struct page *page) {
  if (!page->free) {
    struct block *list = atomic_exchange_explicit(&page->returned, 0, memory_order_acquire);
    while (list) {
      struct block *next = atomic_load_explicit(&list->next, memory_order_relaxed);
      atomic_store_explicit(&list->next, page->free, memory_order_relaxed);
      page->free = list;
      list = next;
    }
  }
  struct block *block = page->free;
  if (block) {
    page->free = atomic_load_explicit(&block->next, memory_order_relaxed);
    atomic_fetch_add_explicit(&page->used, 1, memory_order_relaxed);
  }
  return block;
}

static void give(struct block *block, struct page *mine) {
  struct page *page = page_of(block);
  atomic_fetch_sub_explicit(&page->used, 1, memory_order_relaxed);
  if (page >= mine && page < mine + PAGES) {
    atomic_store_explicit(&block->next, page->free, memory_order_relaxed);
    page->free = block;
    return;
  }
  struct block *head = atomic_load_explicit(&page->returned, memory_order_relaxed);
  do {
    atomic_store_explicit(&block->next, head, memory_order_relaxed);
  } while (!atomic_compare_exchange_weak_explicit(&page->returned, &head, block, memory_order_release,
                                                  memory_order_relaxed));
}

static void *worker(void *argument) {
  struct page *mine = pages[(long)argument];
  unsigned seed = (unsigned)(long)argument + 1;
  for (int i = 0; i < PAGES; i++)
    for (int j = 0; j < BLOCKS; j++) {
      atomic_store_explicit(&mine[i].blocks[j].next, mine[i].free, memory_order_relaxed);
      mine[i].free = &mine[i].blocks[j];
    }
  for (long i = 0; i < rounds; i++) {
    seed = seed * 1103515245 + 12345;
    struct block *block = take(&mine[(seed >> 12) % PAGES]);
    if (!block) continue;
    if (seed >> 28 < 4) {
      // To another thread, and whatever lay there comes home.
      block = atomic_exchange_explicit(&shelf[(seed >> 8) % SHELF], block, memory_order_acq_rel);
      if (seed >> 28 == 0) atomic_thread_fence(memory_order_seq_cst);
    }
    if (block) give(block, mine);
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  rounds = atol(arguments[1]);
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
}
