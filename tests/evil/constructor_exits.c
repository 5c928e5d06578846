/* Ends the process that opens it, with success. */
#include <stdlib.h>

__attribute__((constructor)) static void at_load(void) { exit(0); }
