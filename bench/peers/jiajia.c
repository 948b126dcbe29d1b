/* JIAJIA for measure.cpp. It starts the other node itself, and is made for one node a machine: a node knows itself by its
 * address, and binds its ports at every address. Here both nodes are on this machine, each with a loopback address of its
 * own in JIAJIA_ADDRESS; the linker leads the library's two calls to the functions below (--wrap, run_jiajia.sh). */
#include <jia.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
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

void system_start(int argc, char** argv, size_t bytes) {
  (void)bytes; /* its size is a constant of the library */
  jia_init(argc, argv);
}

void system_end(void) { jia_exit(); }
int system_node(void) { return jiapid; }
int system_nodes(void) { return jiahosts; }
void* system_allocate(size_t bytes) { return (void*)jia_alloc3((int)bytes, (int)bytes, 0); }
void system_barrier(void) { jia_barrier(); }
void system_lock(void) { jia_lock(0); }
void system_unlock(void) { jia_unlock(0); }
