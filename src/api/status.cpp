// SPDX-License-Identifier: BSD-3-Clause
#include <quire/quire.h>
#include <quire/system.h>

#include <cstdio>

#include "base/detail.hpp"
#include "os/limits.hpp"

const char* quire_last_error(void) { return quire::base::detail(); }

void quire_limit_text(int error, char* text, size_t bytes) {
  if (bytes != 0) std::snprintf(text, bytes, "%s", quire::os::explain_error(error).text);
}

const char* quire_status_text(quire_status status) {
  switch (status) {
    case QUIRE_OK:
      return "success";
    case QUIRE_TIMED_OUT:
      return "the time given ran out";
    case QUIRE_BUSY:
      return "somebody else holds it";
    case QUIRE_NOT_FOUND:
      return "there is no such object";
    case QUIRE_EXISTS:
      return "it exists already";
    case QUIRE_CONFLICT:
      return "other transactions came first";
    case QUIRE_INVALID:
      return "an argument is not valid";
    case QUIRE_BAD_ADDRESS:
      return "the address is not shared, was freed, or does not start an allocation";
    case QUIRE_NOT_STARTED:
      return "quire_start() has not been called, or quire_end() has";
    case QUIRE_FORKED:
      return "shared memory is not available in a forked child";
    case QUIRE_NOT_OWNER:
      return "the caller does not hold the lock";
    case QUIRE_BAD_OPTION:
      return "an option is unknown or its value is out of range";
    case QUIRE_UNSUPPORTED:
      return "this machine or mode cannot do it (see `quire info`)";
    case QUIRE_OVERLAP:
      return "two nodes wrote the same bytes in a parallel block";
    case QUIRE_BEYOND:
      return "it lies beyond the end of the content";
    case QUIRE_NO_MEMORY:
      return "no room is left in the region or on the machine";
    case QUIRE_NO_ADDRESSES:
      return "the shared address range is full or taken by something else";
    case QUIRE_LIMIT:
      return "more than a limit allows (a message on standard error names it)";
    case QUIRE_DAMAGED:
      return "a checkpoint is torn or damaged";
    case QUIRE_IO:
      return "the store that keeps the content could not be read or written";
    case QUIRE_PEER_LOST:
      return "a node died or cannot be reached";
    case QUIRE_SYSTEM:
      return "the operating system refused something that Quire needs";
    case QUIRE_LOST:
      return "a dead node alone had it";
    case QUIRE_OWNER_DIED:
      return "the lock is the caller's, but the node that had it last is dead";
  }
  return "an unknown status";
}
