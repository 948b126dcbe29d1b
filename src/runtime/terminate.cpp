// SPDX-License-Identifier: BSD-3-Clause
// The C++ library's own handler tells an uncaught exception in pieces, without a node: those of several nodes mix. This
// one writes a line by a single write(2), and aborts. Called in the thread that threw, whichever that is; memory is as
// for any C++ code there.
#include "runtime/terminate.hpp"

#include <cxxabi.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "base/log.hpp"
#include "os/limits.hpp"

namespace quire::api {
namespace {

std::atomic<std::terminate_handler> g_handler_before{nullptr};

/// One line of a text: control characters are spaces, and what does not fit is replaced by dots.
template <std::size_t Size>
struct one_line {
  char text[Size];
  explicit one_line(const char* of) noexcept {
    if (of == nullptr) of = "(null)";
    std::size_t n = 0;
    for (; of[n] != 0 && n < Size - 1; ++n) text[n] = static_cast<unsigned char>(of[n]) < ' ' ? ' ' : of[n];
    if (of[n] != 0) std::memcpy(text + Size - 4, "...", 3);
    text[n] = 0;
  }
};

/// The type of the exception that is being handled, as the program spells it.
one_line<300> type_of_current() noexcept {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return one_line<300>("of a type without a name");
  int status = 0;
  char* const spelled = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  const one_line<300> line(spelled != nullptr ? spelled : type->name());
  std::free(spelled);
  return line;
}

[[noreturn]] void on_terminate() noexcept {
  using base::log;
  using base::log_level;
  // Null for an exception of another language and for the end of a thread that is cancelled.
  const std::exception_ptr thrown = std::current_exception();
  if (thrown == nullptr) {
    log(log_level::error,
        "std::terminate() was called without an exception (a thread that was not joined, or a second exception "
        "while one was thrown?)");
    std::abort();
  }
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc& e) {
    log(log_level::error, "uncaught exception %s: %s%s", type_of_current().text, one_line<600>(e.what()).text,
        os::explain(os::shortage::addresses).text);
  } catch (const std::exception& e) {
    log(log_level::error, "uncaught exception %s: %s", type_of_current().text, one_line<600>(e.what()).text);
  } catch (...) {
    log(log_level::error, "uncaught exception %s", type_of_current().text);
  }
  std::abort();
}

}  // namespace

void install_terminate() noexcept {
  const std::terminate_handler now = std::get_terminate();
  if (now != &__gnu_cxx::__verbose_terminate_handler && now != &std::abort) return;
  g_handler_before.store(now);
  std::set_terminate(&on_terminate);
}

void remove_terminate() noexcept {
  if (std::get_terminate() == &on_terminate) std::set_terminate(g_handler_before.load());
}

}  // namespace quire::api
