#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { int value; struct node *next; };

struct {
    _Atomic(struct node *) head;
    struct { short small; long large; } in;
    struct { unsigned first : 3, second : 5; } flags;
} stack;

struct { int x, *y; } grid[2][3];
struct __attribute__((packed)) { char tag; int value; } pair;
static _Thread_local unsigned turns;
volatile int ready;

static void push(struct node *new) {
    struct node *old = atomic_load_explicit(&stack.head, memory_order_relaxed);
    do new->next = old;
    while (!atomic_compare_exchange_weak_explicit(&stack.head, &old, new, memory_order_release,
                                                  memory_order_relaxed));
}

static struct node *pop(void) {
    struct node *old = stack.head;
    while (old && !atomic_compare_exchange_strong(&stack.head, &old, old->next)) {}
    return old;
}

static void *worker(void *argument) {
    for (int turn = 0; turn < 3; turn++) {
        if (turn == (int)(long)argument) continue;
        struct node *mine = malloc(sizeof *mine);
        mine->value = turn, turns++;
        push(mine);
        free(pop());
    }
    atomic_thread_fence(memory_order_seq_cst);
    __asm__ volatile("mfence" ::: "memory");
    ready = 1;
    return NULL;
}

static const char *classify(long number) {
    const char *kind = "many";
    switch (number) {
    case -1: kind = "negative"; break;
    case 0: return "none";
    case 1:
    case 2: kind = number == 1 ? "one" : "two";
    }
    return kind;
}

int main(void) {
    pthread_t threads[2];
    for (long left = 0; left < 2; left++) pthread_create(&threads[left], NULL, worker, (void *)left);
    for (int right = 0; right < 2; right++) pthread_join(threads[right], NULL);
    assert(!stack.head && classify(turns));
    stack.flags.first = 1, stack.in.small = 2, grid[1][2].x = 3, pair.value = 4;
    return !ready;
}
