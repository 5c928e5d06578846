/* Never lets go of the process that opens it. */
#include <unistd.h>

__attribute__((constructor)) static void at_load(void) {
  for (;;) pause();
}
