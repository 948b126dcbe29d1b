// SPDX-License-Identifier: BSD-3-Clause
// The threads of one node: work(0) runs on the calling thread, work(1) .. work(threads - 1) on new ones.
#pragma once

#include <thread>
#include <vector>

namespace apps {

template <class Work>
void run_team(int threads, const Work& work) {
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back([&work, t] { work(t); });
  work(0);
}

}  // namespace apps
