// SPDX-License-Identifier: BSD-3-Clause
// What a thread does for a call that concerns names of containers (containers.hpp): questions to whoever answers for
// names, and work of its own in between, one after the other. A machine: what was asked, or done, goes in; what is to
// be asked or done next comes out.
//
//   open      ask; if it is to be made: make, let the others note it (survivors), say made or failed
//   finish    say closed or settled; of one that goes now: destroy, withdraw, say gone; or that it stays
//   remove    ask; claim, destroy, withdraw, say gone; or that it stays
//   unlink    ask; rewrite the head, then finish
//   rename    the same; then finish the one that had the name
#pragma once

#include <cstdint>

#include "services/services.hpp"
#include "services/containers.hpp"

namespace quire::services {

class container_call {
 public:
  struct step {
    enum class kind : std::uint8_t {
      ask,
      make,      ///< the container, and its head
      note,      ///< the head goes to all nodes; if it was made, they note the name
      claim,     ///< this node writes its head
      rewrite,   ///< the head says what the name is now, also that of the one replaced
      destroy,   ///< its region
      withdraw,  ///< it is none any more, and who did its I/O forgets it
      over,
    };
    kind what = kind::over;
    // ask
    unsigned node = 0;
    container_order order{};
    std::uint64_t b = 0;
    bool has_name = false;  ///< with the text of the call
    // over
    quire_status why = QUIRE_OK;
  };
  struct surroundings {
    unsigned nodes = 1;
    bool survives = false;
  };

  /// `how`: container_open flags.
  [[nodiscard]] static container_call open(surroundings in, std::uint64_t how) noexcept {
    return {in, container_order::open, how, true};
  }
  /// `what`: closed, or settled.
  [[nodiscard]] static container_call finish(surroundings in, container_order what, std::uint16_t number) noexcept {
    container_call c{in, what, number, false};
    c.number_ = number;
    return c;
  }
  [[nodiscard]] static container_call remove(surroundings in) noexcept {
    return {in, container_order::take_away, 0, true};
  }
  [[nodiscard]] static container_call unlink(surroundings in) noexcept {
    return {in, container_order::unlink, 0, true};
  }
  [[nodiscard]] static container_call rename(surroundings in, bool exclusive) noexcept {
    return {in, container_order::rename, exclusive ? std::uint64_t{1} : 0, true};
  }
  /// One question, and no more.
  [[nodiscard]] static container_call ask(surroundings in, container_order what, std::uint64_t b,
                                          bool has_name) noexcept {
    container_call c{in, what, b, has_name};
    c.alone_ = true;
    return c;
  }

  /// `leader`: who answers for names, as far as this node knows.
  [[nodiscard]] step begin(unsigned leader) noexcept;
  /// Of `ask`.
  [[nodiscard]] step on_answer(quire_status why, std::uint64_t a, std::uint64_t b) noexcept;
  /// Of all others.
  [[nodiscard]] step on_done(quire_status why) noexcept;

  [[nodiscard]] unsigned leader() const noexcept { return leader_; }
  /// Of the container; 0: there is none.
  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }
  /// rename: of the one that had the name.
  [[nodiscard]] std::uint16_t replaced() const noexcept { return replaced_; }
  /// open: this call makes it.
  [[nodiscard]] bool makes() const noexcept { return makes_; }
  /// The region of heads, as the last answer has said; 0: it has not.
  [[nodiscard]] std::uint64_t heads() const noexcept { return heads_; }

 private:
  container_call(surroundings in, container_order first, std::uint64_t b, bool has_name) noexcept
      : in_(in), asked_{step::kind::ask, 0, first, b, has_name} {}
  [[nodiscard]] step ask(container_order what) noexcept;
  [[nodiscard]] step work(step::kind what) noexcept;
  [[nodiscard]] step over() const noexcept { return {.why = result_}; }
  [[nodiscard]] step settle_other() noexcept;

  surroundings in_;
  step asked_;
  step::kind at_ = step::kind::over;
  unsigned leader_ = 0;
  std::uint16_t number_ = 0, replaced_ = 0;
  std::uint64_t heads_ = 0;
  bool makes_ = false, alone_ = false;
  quire_status result_ = QUIRE_OK;
};

}  // namespace quire::services
