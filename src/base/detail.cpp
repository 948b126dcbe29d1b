// SPDX-License-Identifier: BSD-3-Clause
#include "base/detail.hpp"

#include <cstdarg>

#include "base/log.hpp"

namespace quire::base {
namespace {

thread_local constinit char t_detail[detail_bytes] = {};

}  // namespace

void clear_detail() noexcept { t_detail[0] = 0; }
const char* detail() noexcept { return t_detail; }

quire_status explain(quire_status status, const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  (void)format_to(t_detail, detail_bytes, format, arguments);
  va_end(arguments);
  return status;
}

quire_status explain_if_unsaid(quire_status status, const char* format, ...) noexcept {
  if (t_detail[0] != 0) return status;
  std::va_list arguments;
  va_start(arguments, format);
  (void)format_to(t_detail, detail_bytes, format, arguments);
  va_end(arguments);
  return status;
}

}  // namespace quire::base
