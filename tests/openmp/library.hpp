// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

extern "C" {
extern int library_calls;
void library_count(void);
long library_in_order(void);
long library_sum(int threads);
}

struct shape {
  virtual ~shape() = default;
  [[nodiscard]] virtual long area() const;
};
std::unique_ptr<shape> library_square(long side);
std::vector<int>& library_values();
void library_note(int thread);
int library_noted();
long library_total(int threads);
