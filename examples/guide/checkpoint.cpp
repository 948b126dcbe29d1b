// SPDX-License-Identifier: BSD-3-Clause
// A job that goes on where an earlier one ended, of README.md and docs/guide/failures.md:
//   quire run -n 2 guide/checkpoint 2     does two steps
//   quire run -n 3 guide/checkpoint 5     goes on from there, on three nodes
// The directory `state` is made in the working directory.
#include <cstdio>
#include <cstdlib>

#include <quire/quire.hpp>

namespace {

struct problem {
  int step = 0;
  double value = 1;
};

void make_and_publish_everything() {
  if (quire::node() == 0) quire::publish("work", quire::new_object<problem>());
}

int began = -1;  // the first step of this job

void compute(problem* work) {
  if (began < 0) began = work->step;
  quire::barrier{}.arrive_and_wait();  // all have seen the step
  if (quire::node() == 0) {
    work->value *= 2;
    ++work->step;
  }
  quire::barrier{}.arrive_and_wait();
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const int steps = argc > 1 ? std::atoi(argv[1]) : 3;
  // [checkpoint]
  if (!quire::restore("state")) make_and_publish_everything();      // else all is where it was: look it up by name
  auto* work = quire::lookup<problem>("work");
  while (work->step < steps) { compute(work); quire::checkpoint("state"); }
  // [/checkpoint]
  if (job.node() == 0) std::printf("steps %d to %d on %d nodes\n", began, work->step, job.nodes());
  return work->value == static_cast<double>(1 << work->step) ? 0 : 1;
}
