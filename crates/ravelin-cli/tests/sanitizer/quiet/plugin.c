// A plugin with atomics of its own is loaded, used by threads and unloaded, twice.
// case c: none
// plugin: plugin-part.c
#include <dlfcn.h>
#include <stdio.h>
#include "../turns.h"

static int (*step)(void);

static void *worker(void *unused) {
  for (int i = 0; i < 100; i++) step();
  return unused;
}

int main(int count, char **arguments) {
  for (int round = 0; round < 2 && count > 1; round++) {
    void *plugin = dlopen(arguments[count - 1], RTLD_NOW);
    if (!plugin) return puts(dlerror()), 1;
    step = (int (*)(void))dlsym(plugin, "step");
    at_once(3, worker);
    if (step() != 301) return 2;
    dlclose(plugin);
  }
}
