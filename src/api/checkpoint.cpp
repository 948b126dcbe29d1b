// SPDX-License-Identifier: BSD-3-Clause
#include "api/loop.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "checkpoint/lead/lead.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/job_call.hpp"
#include "runtime/forward.hpp"
#include "runtime/runtime.hpp"

namespace quire::api {
namespace {

quire_status refuse_among_survivors(const char* call) noexcept {
  (void)base::explain(QUIRE_UNSUPPORTED,
                      "%s: no checkpoints in a job that goes on when a node is lost: set QUIRE_ON_FAILURE to end",
                      call);
  base::log(base::log_level::error, "%s", base::detail());
  return QUIRE_UNSUPPORTED;
}

quire_status save_here(checkpoint_path path) {
  QUIRE_FORWARD(save_here, path);
  QUIRE_ENTER(r);
  if (r->core->config.survives) return refuse_among_survivors("quire_checkpoint()");
  const core::job_call together(*r->core, sync::meeting::checkpoint, "quire_checkpoint", quire_thread());
  return together.status().ok() ? save(*r, path) : together.status().code();
}

quire_status restore_here(checkpoint_path path) {
  QUIRE_FORWARD(restore_here, path);
  QUIRE_ENTER(r);
  if (r->core->config.survives) return refuse_among_survivors("quire_restore()");
  const core::job_call together(*r->core, sync::meeting::restore, "quire_restore", quire_thread());
  return together.status().ok() ? restore(*r, path, go_on_with_tasks) : together.status().code();
}

}  // namespace
}  // namespace quire::api

quire_status quire_checkpoint(const char* path) {
  QUIRE_STARTED();
  const quire::api::checkpoint_path whole = quire::api::make_checkpoint_path(path);
  return quire::api::explain_path("quire_checkpoint()", quire::api::save_here(whole), path, whole);
}

quire_status quire_restore(const char* path) {
  QUIRE_STARTED();
  const quire::api::checkpoint_path whole = quire::api::make_checkpoint_path(path);
  return quire::api::explain_path("quire_restore()", quire::api::restore_here(whole), path, whole);
}
