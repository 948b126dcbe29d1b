// SPDX-License-Identifier: BSD-3-Clause
// What all nodes do together for a checkpoint, or to go on from one: node 0 leads. Machines, one on each node: what was
// done goes in, what is to be done next comes out. After work of its own a node meets the others, who hear the worst of
// all outcomes: so all take the same way.
//
//   save      the path; names of containers are held; begin; which one it is; describe; hold; sync; write; let go;
//             gather; commit; prune; names go on
//   restore   the path; nothing was made before; list; of the newest that is whole: check; link; tables; content; load;
//             tasks
//
// save promises: content is written while all nodes hold it still, and names stay as they were described; what is
// committed has the files of all nodes; and however it ends nothing is held any more, and a half is abandoned.
// restore promises: nothing is changed before all nodes have checked all that they need; what is damaged is passed over
// for what is older; and who has begun to change goes on to the end, or the job ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/services.hpp"

namespace quire::services {

class checkpoint_save {
 public:
  enum class work : std::uint8_t {
    meet,  ///< all nodes; the worst of their outcomes
    // Together: all nodes hear the same.
    path,
    identity,  ///< node 0 says which one it is
    hold,      ///< the content
    gather,    ///< node 0 learns of the files of others
    // Of each node.
    describe,  ///< containers
    sync,      ///< files that several nodes write
    write,     ///< its file
    let_go,
    // Of node 0.
    hold_names,
    begin,
    commit,
    prune,    ///< older ones go
    abandon,  ///< the half of one
    let_names_go,
    over,
  };
  struct step {
    work what = work::over;
    quire_status why = QUIRE_OK;  ///< over
  };
  explicit checkpoint_save(bool leads) noexcept : leads_(leads) {}
  [[nodiscard]] step begin() noexcept { return go(0); }
  /// It is done, or not; of a meeting and of what is done together: what all hear.
  [[nodiscard]] step on_done(quire_status why) noexcept;

 private:
  [[nodiscard]] step go(std::size_t at) noexcept;
  [[nodiscard]] step clean_up() noexcept;

  bool leads_;
  bool held_ = false, begun_ = false, names_held_ = false;
  std::size_t at_ = 0;
  step now_{};
  quire_status result_ = QUIRE_OK;
};

class checkpoint_restore {
 public:
  enum class work : std::uint8_t {
    meet,
    // Together.
    path,
    choose,  ///< node 0 says which one comes next; QUIRE_NOT_FOUND: there is no other
    link,    ///< containers have their linkers again
    load,    ///< and their content
    // Of each node.
    look,   ///< nothing has been made before
    check,  ///< all that it will need. Changes nothing
    tables,
    content,
    // Of node 0.
    list,
    tasks,
    over,
  };
  struct step {
    work what = work::over;
    quire_status why = QUIRE_OK;  ///< over
  };
  explicit checkpoint_restore(bool leads) noexcept : leads_(leads) {}
  [[nodiscard]] step begin() noexcept { return go(0); }
  [[nodiscard]] step on_done(quire_status why) noexcept;
  /// What becomes of an error ends the job.
  [[nodiscard]] bool taken() const noexcept { return taken_; }
  /// How many were passed over.
  [[nodiscard]] unsigned passed_over() const noexcept { return passed_over_; }

 private:
  [[nodiscard]] step go(std::size_t at) noexcept;
  [[nodiscard]] step fail(quire_status why) noexcept;

  bool leads_, taken_ = false;
  unsigned passed_over_ = 0;
  quire_status first_ = QUIRE_OK;  ///< of those passed over
  std::size_t at_ = 0;
  step now_{};
};

}  // namespace quire::services
