// SPDX-License-Identifier: BSD-3-Clause
// Requests to machines of services, and what they answer, as text: "2.7 OK 5" is the answer to call 7 of node 2.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "services/services.hpp"

namespace quire::services {

inline message request_of(unsigned node, std::uint64_t token, std::uint64_t a = 0, std::uint64_t b = 0,
                          std::uint64_t c = 0) {
  message m;
  m.kind = model::message_kind::service_request;
  m.from = m.requester = node_id{static_cast<std::uint16_t>(node)};
  m.token = token;
  m.a = a;
  m.b = b;
  m.c = c;
  return m;
}

inline std::string text_of(quire_status why) {
  switch (why) {
    case QUIRE_OK:
      return "OK";
    case QUIRE_NOT_FOUND:
      return "NOT_FOUND";
    case QUIRE_EXISTS:
      return "EXISTS";
    case QUIRE_BUSY:
      return "BUSY";
    case QUIRE_LOST:
      return "LOST";
    case QUIRE_INVALID:
      return "INVALID";
    default:
      return "status " + std::to_string(static_cast<int>(why));
  }
}

/// What it has said since the last time; `b` where it is not 0.
inline std::string said(answers& out) {
  std::string all;
  for (const answer& one : out) {
    all += (all.empty() ? "" : ", ") + std::to_string(one.request.requester.value()) + "." +
           std::to_string(one.request.token) + " " + text_of(one.why);
    if (one.why == QUIRE_OK && (one.a != 0 || one.b != 0)) all += " " + std::to_string(one.a);
    if (one.b != 0) all += " " + std::to_string(one.b);
  }
  out.clear();
  return all;
}

}  // namespace quire::services
