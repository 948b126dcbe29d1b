// SPDX-License-Identifier: BSD-3-Clause
// A crew for which reading and writing takes no time.
#pragma once

#include "store/io.hpp"

namespace quire::whole {

class prompt_crew final : public store::crew {
 public:
  void begin(store::io& o) noexcept override {
    o.perform();
    o.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &o;
    last_ = &o;
  }
  [[nodiscard]] store::io* take_done() noexcept override {
    store::io* const all = first_;
    first_ = last_ = nullptr;
    return all;
  }
  void finish(store::io&) noexcept override {}

 private:
  store::io* first_ = nullptr;
  store::io* last_ = nullptr;
};

}  // namespace quire::whole
