// SPDX-License-Identifier: BSD-3-Clause
// A terminal that shows pictures and tells keys, by ANSI sequences alone. Whatever way the command ends, but by
// SIGKILL, the terminal is as before.
#pragma once

#include <termios.h>

#include <string>
#include <vector>

#include "os/process.hpp"

namespace quire::tools::top {

class terminal {
 public:
  /// Takes over signals, too: they are events. Standard input and output are terminals.
  terminal();
  ~terminal();
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  enum class event { nothing, quit, up, down, resized };
  struct size {
    std::size_t rows, columns;
  };
  [[nodiscard]] size dimensions() const;
  void show(const std::vector<std::string>& lines);
  /// Both become readable when there is an event.
  [[nodiscard]] int keys() const noexcept { return 0; }
  [[nodiscard]] int signals() const noexcept { return signals_.number(); }
  /// The next one; `nothing`: there is none. Does not block. Ctrl-Z stops the process here, with the terminal as before
  /// meanwhile.
  [[nodiscard]] event next();

 private:
  void enter();
  void leave();
  [[nodiscard]] event take_signal();
  [[nodiscard]] event take_key();

  termios before_{};
  os::descriptor signals_;
  std::string typed_;
};

}  // namespace quire::tools::top
