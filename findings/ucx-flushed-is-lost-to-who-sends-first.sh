#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# UCX over TCP: a process sends active messages, waits until its worker is flushed, and ends. Its peer has sent meanwhile what nobody has read, sends
# once more, and reads only then.
# Expected guess: what was flushed arrives: it lies in the peer's socket, and Linux gives out what a socket has received before it tells of a reset.
# Behaviour: nothing arrives. The peer's send meets the reset, UCX fails the endpoint, and what had come is never looked at. A peer that reads before it
# sends gets all.
# Seen on: UCX 1.13 (Debian 12). Exit status 1: this system does otherwise; 77: UCX is missing.
set -euo pipefail
[ -e /usr/include/ucp/api/ucp.h ] || { echo "libucx-dev is missing"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

static ucp_worker_h worker;
static ucp_ep_h peer;
static int came, lost;

static ucs_status_t on_message(void* arg, const void* header, size_t header_bytes, void* data, size_t bytes, const ucp_am_recv_param_t* how) {
  (void)arg, (void)header, (void)header_bytes, (void)data, (void)bytes, (void)how;
  return ++came, UCS_OK;
}
static void on_error(void* arg, ucp_ep_h end, ucs_status_t status) { (void)arg, (void)end, (void)status, lost = 1; }
static void wait_for(void* request) {
  if (!UCS_PTR_IS_PTR(request)) return;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
  ucp_request_free(request);
}
static void meet(int socket) {
  char word = 0;
  if (write(socket, &word, 1) != 1) exit(77);
  for (struct pollfd ready = {socket, POLLIN, 0}; poll(&ready, 1, -1) != 1;) continue;
  if (read(socket, &word, 1) != 1) exit(77);
}
static void begin(int socket) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM};
  const ucp_worker_params_t about = {0};
  ucp_context_h context;
  if (ucp_init(&params, NULL, &context) != UCS_OK || ucp_worker_create(context, &about, &worker) != UCS_OK) exit(77);
  const ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB, .id = 1, .cb = on_message};
  ucp_worker_set_am_recv_handler(worker, &handler);
  ucp_address_t* address;
  size_t bytes, others;
  static char other[65536];
  ucp_worker_get_address(worker, &address, &bytes);
  if (write(socket, &bytes, sizeof bytes) < 0 || write(socket, address, bytes) < 0) exit(77);
  if (read(socket, &others, sizeof others) < 0 || recv(socket, other, others, MSG_WAITALL) != (ssize_t)others) exit(77);
  const ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .address = (const ucp_address_t*)other,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = on_error}};
  if (ucp_ep_create(worker, &to, &peer) != UCS_OK) exit(77);
}
static void send_all(int number, int waits) {
  static char text[64];
  const ucp_request_param_t how = {0};
  for (int i = 0; i < number; ++i) {
    void* const request = ucp_am_send_nbx(peer, 1, NULL, 0, text, sizeof text, &how);
    if (waits) wait_for(request);
  }
}
static void both_have_sent(int socket) {
  const ucp_request_param_t how = {0};
  send_all(10, 1);
  wait_for(ucp_worker_flush_nbx(worker, &how));
  while (came < 10) ucp_worker_progress(worker);
  meet(socket);
}
/* it WAY: how many of three flushed messages come to a peer that goes that way. */
int main(int argc, char** argv) {
  const int sends = argc > 1 && strcmp(argv[1], "sends") == 0;
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 77;
  const pid_t child = fork();
  const int mine = sockets[child == 0];
  begin(mine);
  both_have_sent(mine);
  if (child == 0) {
    const ucp_request_param_t how = {0};
    send_all(3, 1);
    wait_for(ucp_worker_flush_nbx(worker, &how));
    meet(mine);
    meet(mine); /* what the peer has sent by now nobody reads */
    _exit(0);
  }
  meet(mine);
  send_all(10, 0);
  meet(mine);
  waitpid(child, NULL, 0);
  usleep(200000);
  if (sends) send_all(10, 0);
  for (int i = 0; i < 1000 && !lost; ++i) {
    for (int k = 0; k < 100; ++k) ucp_worker_progress(worker);
    usleep(1000);
  }
  printf("%d\n", came - 10);
  fflush(stdout);
  _exit(0);
}
C
gcc -o "$folder/it" "$folder/it.c" -lucp -lucs
export UCX_TLS=tcp UCX_LOG_LEVEL=fatal
dpkg-query -W -f 'UCX ${Version}\n' libucx0 2>/dev/null || true
reads=$(timeout 60 "$folder/it" reads) sends=$(timeout 60 "$folder/it" sends)
echo "of three messages that were flushed come to a peer that reads: $reads, that sends first: $sends"
[ "$reads" = 3 ] && [ "$sends" = 0 ]
