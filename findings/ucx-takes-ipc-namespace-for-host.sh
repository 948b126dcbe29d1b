#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# UCX between two processes of one machine, one of them in an IPC namespace of its own, as each container has one.
# Expected guess: what an IPC namespace keeps apart (System V segments, POSIX queues) is not used; shared memory of memfd and /proc goes on being used, as
# both are on one machine and see each other's processes.
# Behaviour: UCX takes the other for another machine. No transport of shared memory is used, only TCP (or what the network has), and a program that knows
# of one machine is ten times slower than it expects.
# Seen on: UCX 1.13 (Debian 12). Exit status 1: this system does otherwise; 77: UCX is missing, or no namespace can be made.
set -euo pipefail
[ -e /usr/include/ucp/api/ucp.h ] || { echo "libucx-dev is missing"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

static ucp_worker_h a_worker(void) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM};
  const ucp_worker_params_t about = {0};
  ucp_context_h context;
  ucp_worker_h worker;
  if (ucp_init(&params, NULL, &context) != UCS_OK || ucp_worker_create(context, &about, &worker) != UCS_OK) exit(77);
  return worker;
}
/* it give FILE: writes an address there, and waits for the end of its input. it take FILE: opens an endpoint to it, and says by what. */
int main(int argc, char** argv) {
  (void)argc;
  ucp_worker_h worker = a_worker();
  ucp_address_t* address;
  size_t bytes;
  if (strcmp(argv[1], "give") == 0) {
    ucp_worker_get_address(worker, &address, &bytes);
    char part[256];
    snprintf(part, sizeof part, "%s.part", argv[2]);
    FILE* const out = fopen(part, "w");
    fwrite(address, 1, bytes, out);
    fclose(out);
    rename(part, argv[2]);
    while (read(0, part, sizeof part) > 0) continue;
    return 0;
  }
  static char content[65536];
  FILE* const in = fopen(argv[2], "r");
  if (fread(content, 1, sizeof content, in) == 0) return 77;
  const ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (const ucp_address_t*)content};
  ucp_ep_h end;
  const ucs_status_t made = ucp_ep_create(worker, &to, &end);
  if (made != UCS_OK) return printf("no way there: %s\n", ucs_status_string(made)), 0;
  ucp_ep_print_info(end, stdout);
}
C
gcc -o "$folder/it" "$folder/it.c" -lucp -lucs
transports() {  # of an endpoint to a process that is started by "$@"
  rm -f "$folder/address" "$folder/go"
  mkfifo "$folder/go"
  "$@" "$folder/it" give "$folder/address" <"$folder/go" &
  exec 3>"$folder/go"
  for _ in $(seq 100); do [ -e "$folder/address" ] && break; sleep 0.1; done
  "$folder/it" take "$folder/address" | grep -o 'lane\[[0-9]*\]: *[0-9]*:[a-z_0-9]*' | sed 's/.*://' | sort -u | tr '\n' ' '
  exec 3>&-
  wait
}
export UCX_TLS=posix,cma,tcp
map=$(unshare -i true 2>/dev/null || echo r)
unshare -"${map}i" true 2>/dev/null || { echo "no IPC namespace can be made"; exit 77; }
dpkg-query -W -f 'UCX ${Version}\n' libucx0 2>/dev/null || true
same=$(transports env)
other=$(transports unshare -"${map}i")
echo "in one IPC namespace: $same"
echo "in two: $other"
[[ $same == *posix* && $other == *tcp* && $other != *posix* ]]
