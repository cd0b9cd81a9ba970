/* libuv: a loop hands work to the thread pool, and threads wake the loop. Argument: how many pieces of work. */
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { AT_ONCE = 64, BYTES = 256 };
struct piece {
  uv_work_t request;
  unsigned char bytes[BYTES];
  unsigned sum;
};
static long left, ended;
static unsigned long sum;
static uv_async_t wake;
static uv_mutex_t lock;
static long woken;

static void work(uv_work_t *request) {
  struct piece *piece = request->data;
  piece->sum = 0;
  for (int round = 0; round < 8; round++)
    for (int byte = 0; byte < BYTES; byte++) piece->sum = piece->sum * 31 + (piece->bytes[byte] ^= round);
  uv_mutex_lock(&lock);
  woken++;
  uv_mutex_unlock(&lock);
  uv_async_send(&wake);
}

static void after(uv_work_t *request, int status) {
  struct piece *piece = request->data;
  if (status != 0) exit(1);
  sum += piece->sum;
  ended++;
  if (left > 0) {
    left--;
    uv_queue_work(request->loop, request, work, after);
  } else {
    free(piece);
    static int closed;
    if (++closed == AT_ONCE) uv_close((uv_handle_t *)&wake, NULL);
  }
}

static void on_wake(uv_async_t *handle) {
  (void)handle;
  uv_mutex_lock(&lock);
  woken = 0;
  uv_mutex_unlock(&lock);
}

int main(int count, char **words) {
  if (count != 2) return 2;
  long all = atol(words[1]);
  uv_loop_t *loop = uv_default_loop();
  uv_mutex_init(&lock);
  uv_async_init(loop, &wake, on_wake);
  left = all - AT_ONCE;
  for (int number = 0; number < AT_ONCE; number++) {
    struct piece *piece = malloc(sizeof *piece);
    memset(piece->bytes, number, BYTES);
    piece->request.data = piece;
    uv_queue_work(loop, &piece->request, work, after);
  }
  uv_run(loop, UV_RUN_DEFAULT);
  return ended == all && sum != 0 ? 0 : 1;
}
