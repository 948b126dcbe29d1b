// SPDX-License-Identifier: BSD-3-Clause
#include "top/terminal.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

namespace quire::tools::top {
namespace {

constexpr const char* enter_text = "\x1b[?1049h\x1b[?25l";  // another screen, without a cursor
constexpr const char* leave_text = "\x1b[?25h\x1b[?1049l";

sigset_t handled() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) ::sigaddset(&set, number);
  return set;
}

/// All of it, or until the terminal is gone.
void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(1, text.data(), text.size());
    if (done <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace

terminal::terminal() {
  const sigset_t set = handled();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_ = os::descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  enter();
}

terminal::~terminal() {
  leave();
  const sigset_t set = handled();
  signals_.reset();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void terminal::enter() {
  ::tcgetattr(0, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(0, TCSAFLUSH, &raw);
  write_all(enter_text);
}

void terminal::leave() {
  ::tcsetattr(0, TCSAFLUSH, &before_);
  write_all(leave_text);
}

terminal::size terminal::dimensions() const {
  winsize now{};
  if (::ioctl(1, TIOCGWINSZ, &now) != 0 || now.ws_row == 0 || now.ws_col == 0) return {24, 80};
  return {now.ws_row, now.ws_col};
}

void terminal::show(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) text += lines[i] + "\x1b[K" + (i + 1 < lines.size() ? "\r\n" : "");
  write_all(text + "\x1b[J");
}

terminal::event terminal::next() {
  if (const event signal = take_signal(); signal != event::nothing) return signal;
  return take_key();
}

terminal::event terminal::take_signal() {
  signalfd_siginfo one;
  if (::read(signals_.number(), &one, sizeof one) != sizeof one) return event::nothing;
  if (one.ssi_signo == SIGWINCH) return event::resized;
  if (one.ssi_signo != SIGTSTP) return event::quit;
  leave();
  ::raise(SIGSTOP);
  enter();
  return event::resized;
}

terminal::event terminal::take_key() {
  std::array<char, 64> keys;
  if (const ssize_t count = ::read(0, keys.data(), keys.size()); count > 0)
    typed_.append(keys.data(), static_cast<std::size_t>(count));
  while (!typed_.empty()) {
    const auto takes = [this](std::string_view what) {
      if (!typed_.starts_with(what)) return false;
      typed_.erase(0, what.size());
      return true;
    };
    if (takes("\x1b[A") || takes("\x1bOA") || takes("k")) return event::up;
    if (takes("\x1b[B") || takes("\x1bOB") || takes("j")) return event::down;
    if (takes("q") || takes("Q")) return event::quit;
    typed_.erase(0, 1);
  }
  return event::nothing;
}

}  // namespace quire::tools::top
