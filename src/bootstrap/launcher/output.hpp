// SPDX-License-Identifier: BSD-3-Clause
// Output of nodes under --tag: whole lines, each begun with the node's number, standard output and error kept apart.
// Called by the job's loop only. A slow reader of ours slows the nodes down, but never stops the loop.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "os/process.hpp"

namespace quire::bootstrap::launcher {

/// Standard output or error of the launcher, written as far as it takes it.
class output {
 public:
  explicit output(int number) noexcept : number_(number) {}
  void put(std::string_view text) {
    if (!closed_) queue_.append(text);
  }
  /// Writes a piece; call it when poll(2) finds the descriptor writable, so that it does not block.
  void write_piece();
  /// Writes everything, however long the reader takes.
  void write_all();
  [[nodiscard]] bool pending() const noexcept { return !queue_.empty(); }
  /// So much waits that nothing more should be read for it now.
  [[nodiscard]] bool full() const noexcept { return queue_.size() >= (1u << 20); }
  /// Nothing can be written any more; `error` is the reason (EPIPE: nobody reads us).
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
  std::string queue_;
  std::size_t written_ = 0;
  bool closed_ = false;
  int error_ = 0;
};

/// A line longer than this is broken into several.
inline constexpr std::size_t longest_line_bytes = 1u << 20;

/// Makes tagged lines of the bytes of one stream.
class line_tagger {
 public:
  explicit line_tagger(int node) : tag_("[" + std::to_string(node) + "] ") {}
  line_tagger() = default;  ///< whole lines, without a tag
  void add(std::string_view bytes, output& to);
  /// The stream has ended: a last line without its newline gets one.
  void finish(output& to);

 private:
  void put_line(std::string_view line, output& to);
  std::string tag_, begun_;
};

/// The reading end of a node's standard output or error.
class tagged_stream {
 public:
  tagged_stream() = default;
  tagged_stream(os::descriptor pipe, int node) : pipe_(std::move(pipe)), tagger_(node) {}
  /// Takes in what comes, until the stream would block, has ended, or `to` is full.
  void pump(output& to);
  /// Takes in what has been written so far, however full `to` is.
  void drain(output& to);
  /// Ends the stream here, whoever may still write to it.
  void finish(output& to);
  [[nodiscard]] bool open() const noexcept { return pipe_.open(); }
  [[nodiscard]] int descriptor() const noexcept { return pipe_.number(); }

 private:
  /// One piece of it; false if there was none.
  bool take_piece(output& to);
  os::descriptor pipe_;
  line_tagger tagger_{0};
};

}  // namespace quire::bootstrap::launcher
