/* SPDX-License-Identifier: BSD-3-Clause */
/* JIAJIA for measure.cpp, sor.cpp and cg.cpp. It starts the other nodes itself, and is made for one node a machine: a
 * node knows itself by its address, and binds its ports at every address. Here all nodes are on this machine, each with
 * a loopback address of its own in JIAJIA_ADDRESS; the linker leads the library's two calls to the functions below. */
#include <jia.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "peers/system.h"

int __real_bind(int socket, const struct sockaddr* address, socklen_t length);
int __real_getifaddrs(struct ifaddrs** list);

static struct in_addr own_address(void) {
  const char* const text = getenv("JIAJIA_ADDRESS");
  struct in_addr address;
  if (text == NULL || inet_pton(AF_INET, text, &address) != 1) abort();
  return address;
}

/** All its sockets are AF_INET. */
int __wrap_bind(int socket, const struct sockaddr* address, socklen_t length) {
  (void)length;
  struct sockaddr_in own = *(const struct sockaddr_in*)address;
  own.sin_addr = own_address();
  return __real_bind(socket, (const struct sockaddr*)&own, sizeof own);
}

int __wrap_getifaddrs(struct ifaddrs** list) {
  const int result = __real_getifaddrs(list);
  for (struct ifaddrs* at = result == 0 ? *list : NULL; at != NULL; at = at->ifa_next)
    if (at->ifa_addr != NULL && at->ifa_addr->sa_family == AF_INET)
      ((struct sockaddr_in*)at->ifa_addr)->sin_addr = own_address();
  return result;
}

const char* system_name(void) { return "jiajia"; }

/** The nodes that it starts get a port as well: -P PORT. */
int system_arguments(int argc, char** argv) { return argc > 2 && strcmp(argv[argc - 2], "-P") == 0 ? argc - 2 : argc; }

void system_start(int argc, char** argv, size_t bytes) {
  (void)bytes; /* its size is a constant of the library */
  jia_init(argc, argv);
}

void system_end(void) { jia_exit(); }
int system_node(void) { return jiapid; }
int system_nodes(void) { return jiahosts; }
void* system_allocate(size_t bytes) { return (void*)jia_alloc3((int)bytes, (int)bytes, 0); }
/** Allocations follow each other in the address space. Pages that only their home writes need not be protected at every
 * barrier, which takes most of the time of applications that do so; this is off unless it is asked for. */
void* system_allocate_blocks(const size_t* begin) {
  void* first = NULL;
  jia_config(ADWD, ON);
  for (int node = 0; node < jiahosts; ++node) {
    const int bytes = (int)(begin[node + 1] - begin[node]);
    void* const block = bytes == 0 ? NULL : (void*)jia_alloc3(bytes, bytes, node);
    if (first == NULL) first = block;
  }
  return first;
}

void system_barrier(void) { jia_barrier(); }
void system_lock(void) { jia_lock(0); }
void system_unlock(void) { jia_unlock(0); }
