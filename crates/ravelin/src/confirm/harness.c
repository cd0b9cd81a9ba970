/* Runs a litmus test many times and counts its outcomes. The part above this comment is the test.
 *
 * PERPETUAL: threads never wait for each other. In iteration n the j-th of k stores to a cell stores k*n + j, all that is loaded is kept,
 * and afterwards iterations of the threads are matched: a load that reads store j of the writer's iteration m reads k*m + j, and one that
 * reads an older value reads at most k*m (Melissaris, Markakis, Shaw and Martonosi: PerpLE, MICRO 2020).
 *
 * Otherwise each iteration has cells of its own, in shuffled order, and threads meet before it (Alglave, Maranget, Sarkar and Sewell:
 * litmus, TACAS 2011).
 *
 * Usage: ./test [SECONDS] prints a histogram; ./test SECONDS --batches prints one line of counts after each batch.
 */

/* To match iterations takes longer than to make them, so with many outcomes there are fewer in a batch. */
#define ITERATIONS (!PERPETUAL ? 20000L : OUTCOMES <= 8 ? 400000L : 3200000L / OUTCOMES)

typedef struct { volatile int64_t value; char apart[120]; } cell __attribute__((aligned(128)));
typedef struct { volatile int arrived; char apart[124]; } meeting __attribute__((aligned(128)));

static cell *memory[CELLS];
static int *order[CELLS];
static int64_t *kept[THREADS];
static meeting *meetings, starting;
static pthread_barrier_t phases;
static volatile int stopping;
static uint64_t counts[OUTCOMES + 1], iterations;

#define STORE(where, what) __asm__ volatile("movq %1, %0" : "=m"(where) : "r"((int64_t)(what)) : "memory")
#define LOAD(where, into) __asm__ volatile("movq %1, %0" : "=r"(into) : "m"(where) : "memory")
#define EXCHANGE(where, what, into) (into = (what), ({ __asm__ volatile("xchgq %0, %1" : "+r"(into), "+m"(where) : : "memory"); }))
#define LOCKED_LOAD(where, into) (into = 0, ({ __asm__ volatile("lock xaddq %0, %1" : "+r"(into), "+m"(where) : : "memory"); }))
#define FENCE() __asm__ volatile("mfence" : : : "memory")

#if PERPETUAL
#define CELL(c) memory[c][0].value
#define VALUE(k, j) ((int64_t)(k) * n + (j))
#else
#define CELL(c) memory[c][order[c][n]].value
#define VALUE(k, j) ((int64_t)(j))
#endif

/* The threads of the test: each makes iteration n, and keeps what it loaded. */
BODIES

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#if !PERPETUAL
static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}
#endif

/* One core for each thread, of those that this process may use. */
static void pin(int thread) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int wanted = thread % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; core++) {
    if (CPU_ISSET(core, &allowed) && wanted-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      pthread_setaffinity_np(pthread_self(), sizeof one, &one);
      return;
    }
  }
}

/* Polls until all threads are here. A thread that waits for long gives its core away. */
static void meet(meeting *at) {
  __atomic_fetch_add(&at->arrived, 1, __ATOMIC_SEQ_CST);
  for (int polls = 0; at->arrived < THREADS; polls++) {
    if (polls > 20000) {
      sched_yield();
      polls = 0;
    }
  }
}

static void iterate(int thread, uint64_t *seed) {
  meet(&starting);
  for (long n = 0; n < ITERATIONS; n++) {
#if !PERPETUAL
    meet(&meetings[n]);
    for (int nothing = (int)(next_random(seed) % 32); nothing > 0; nothing--) __asm__ volatile("" : : : "memory");
#endif
    bodies(thread, n);
  }
  (void)seed;
}

static void *run(void *argument) {
  int thread = (int)(intptr_t)argument;
  uint64_t seed = 88172645463325252ULL + (uint64_t)thread * 7919;
  pin(thread);
  for (;;) {
    pthread_barrier_wait(&phases);
    if (stopping) return NULL;
    iterate(thread, &seed);
    pthread_barrier_wait(&phases);
  }
}

static void prepare(uint64_t *seed) {
  starting.arrived = 0;
  for (int c = 0; c < CELLS; c++) {
    for (long n = 0; n < (PERPETUAL ? 1 : ITERATIONS); n++) memory[c][n].value = 0;
#if !PERPETUAL
    for (long n = ITERATIONS - 1; n > 0; n--) {
      long other = (long)(next_random(seed) % (uint64_t)(n + 1));
      int swapped = order[c][n];
      order[c][n] = order[c][other];
      order[c][other] = swapped;
    }
#endif
  }
#if !PERPETUAL
  for (long n = 0; n < ITERATIONS; n++) meetings[n].arrived = 0;
#endif
  (void)seed;
}

#if PERPETUAL
static int64_t loaded(int load, long n) {
  int thread = load_thread[load];
  return kept[thread][n * loads_of[thread] + load_slot[load]];
}

/* The first iteration in which a load reads at least a value. Values of one writer never decrease. */
static long first_at_least(int load, int64_t value) {
  long low = 0, high = ITERATIONS;
  while (low < high) {
    long middle = (low + high) / 2;
    if (loaded(load, middle) >= value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* Whether iterations of the other threads make this outcome with an iteration of the first. */
static int matches(const int *wanted, long first) {
  long at[THREADS];
  int known[THREADS] = {1};
  at[0] = first;
  for (int pass = 0; pass < 2 * THREADS; pass++) {
    for (int load = 0; load < LOADS; load++) {
      int thread = load_thread[load], writer = cell_writer[load_cell[load]];
      int64_t k = cell_stores[load_cell[load]], j = wanted[load];
      if (writer < 0 || writer == thread || known[thread] == known[writer]) continue;
      if (known[thread]) {
        int64_t value = loaded(load, at[thread]);
        if (j > 0 && (value < j || (value - j) % k != 0)) return 0;
        at[writer] = j > 0 ? (value - j) / k : (value + k - 1) / k;
        if (at[writer] >= ITERATIONS) return 0;
        known[writer] = 1;
      } else if (j > 0) {
        at[thread] = first_at_least(load, k * at[writer] + j);
        if (at[thread] >= ITERATIONS) return 0;
        known[thread] = 1;
      } else if (pass >= THREADS) {
        at[thread] = first_at_least(load, k * at[writer] + 1) - 1;
        if (at[thread] < 0) return 0;
        known[thread] = 1;
      }
    }
  }
  for (int thread = 0; thread < THREADS; thread++) {
    if (!known[thread]) at[thread] = first;
  }
  for (int load = 0; load < LOADS; load++) {
    int writer = cell_writer[load_cell[load]];
    int64_t k = cell_stores[load_cell[load]], j = wanted[load], value = loaded(load, at[load_thread[load]]);
    if (writer < 0 ? value != 0 : j > 0 ? value != k * at[writer] + j : value > k * at[writer]) return 0;
  }
  return 1;
}

static void count(void) {
  for (int o = 0; o < OUTCOMES; o++) {
    for (long n = 0; n < ITERATIONS; n++) counts[o] += (uint64_t)matches(outcomes[o], n);
  }
}
#else
static void count(void) {
  for (long n = 0; n < ITERATIONS; n++) {
    int64_t found[VALUES];
    for (int load = 0; load < LOADS; load++) {
      int thread = load_thread[load];
      found[load] = kept[thread][n * loads_of[thread] + load_slot[load]];
    }
    for (int m = LOADS; m < VALUES; m++) found[m] = memory[end_cell[m - LOADS]][order[end_cell[m - LOADS]][n]].value;
    int o = 0;
    for (; o < OUTCOMES; o++) {
      int same = 1;
      for (int v = 0; v < VALUES; v++) same &= found[v] == outcomes[o][v];
      if (same) break;
    }
    counts[o]++;
  }
}
#endif

static void *room(size_t size) {
  void *block = NULL;
  if (posix_memalign(&block, 128, size) != 0) {
    fprintf(stderr, "not enough memory\n");
    exit(2);
  }
  memset(block, 0, size);
  return block;
}

int main(int argc, char **argv) {
  double limit = argc > 1 ? atof(argv[1]) : 5.0;
  int batches = argc > 2 && strcmp(argv[2], "--batches") == 0;
  pthread_t threads[THREADS];
  uint64_t seed = (uint64_t)(now() * 1e9) | 1;
  double start = now(), measured = 0, printed = 0;
  for (int c = 0; c < CELLS; c++) {
    memory[c] = room((PERPETUAL ? 1 : ITERATIONS) * sizeof(cell));
    order[c] = room(ITERATIONS * sizeof(int));
    for (long n = 0; n < ITERATIONS; n++) order[c][n] = (int)n;
  }
  if (!PERPETUAL) meetings = room(ITERATIONS * sizeof(meeting));
  pthread_barrier_init(&phases, NULL, THREADS);
  for (int thread = 0; thread < THREADS; thread++) {
    kept[thread] = room((size_t)(ITERATIONS * (loads_of[thread] + 1)) * sizeof(int64_t));
    if (thread > 0 && pthread_create(&threads[thread], NULL, run, (void *)(intptr_t)thread) != 0) {
      fprintf(stderr, "cannot start a thread\n");
      return 2;
    }
  }
  pin(0);
  do {
    prepare(&seed);
    pthread_barrier_wait(&phases);
    double before = now();
    iterate(0, &seed);
    pthread_barrier_wait(&phases);
    measured += now() - before;
    iterations += ITERATIONS;
    count();
    if (batches && (counts[WANTED] > 0 || now() - printed > 0.05)) {
      printed = now();
      printf("batch %llu %.6f", (unsigned long long)iterations, measured);
      for (int o = 0; o <= OUTCOMES; o++) printf(" %llu", (unsigned long long)counts[o]);
      printf("\n");
      /* Whoever started this is gone if nobody reads. */
      if (fflush(stdout) != 0) return 2;
    }
  } while (now() - start < limit);
  stopping = 1;
  pthread_barrier_wait(&phases);
  for (int thread = 1; thread < THREADS; thread++) pthread_join(threads[thread], NULL);
  if (!batches) {
    printf("%llu iterations in %.2f s\n", (unsigned long long)iterations, measured);
    for (int o = 0; o < OUTCOMES; o++) {
      if (counts[o] > 0 || o == WANTED) {
        printf("%12llu  %-11s  %s%s\n", (unsigned long long)counts[o], allowed[o], names[o], o == WANTED ? "  <- the witness" : "");
      }
    }
    if (counts[OUTCOMES] > 0) printf("%12llu  %-11s  any other\n", (unsigned long long)counts[OUTCOMES], "forbidden");
  }
  return 0;
}
