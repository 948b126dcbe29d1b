/* SPDX-License-Identifier: BSD-3-Clause */
// A library that passes for Quire's by its name, and opens descriptors while the program runs.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

int open_late(void) { return open("/dev/null", O_RDONLY); }
int open_late_event(void) { return eventfd(0, 0); }
int close_late(int fd) { return close(fd); }
