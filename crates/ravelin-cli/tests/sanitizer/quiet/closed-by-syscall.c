// A program that closes files by system calls of its own and tells the sanitizer, as libuv does: the thread that reads
// the end of the pipe knows what came before.
// case c: none
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

void __sanitizer_syscall_pre_impl_close(long file);
void __sanitizer_syscall_post_impl_close(long result, long file);

static int pipes[2];
static int data;

static void *closes(void *unused) {
  data = 1;
  __sanitizer_syscall_pre_impl_close(pipes[1]);
  long result = syscall(SYS_close, pipes[1]);
  __sanitizer_syscall_post_impl_close(result, pipes[1]);
  return unused;
}

int main(void) {
  if (pipe(pipes)) return 2;
  pthread_t thread;
  pthread_create(&thread, 0, closes, 0);
  char byte;
  if (read(pipes[0], &byte, 1) != 0 || data != 1) return 3;
  pthread_join(thread, 0);
}
