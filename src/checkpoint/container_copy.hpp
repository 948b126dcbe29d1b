// SPDX-License-Identifier: BSD-3-Clause
// The file of a container, as it was, beside the files of nodes in a checkpoint. Where the file system can, it shares
// the blocks of the original (FICLONE); else it is copied, with a checksum. Application threads.
#pragma once

#include <string>

#include "checkpoint/manifest.hpp"
#include "checkpoint/outcome.hpp"

namespace quire::checkpoint {

/// Copies the file `row.what`, which nobody changes meanwhile, into `directory`, where it is on the disk when this
/// returns. Sets how long it is, and its checksum.
outcome copy_container(const std::string& directory, container_row& row);
/// The file has the content of the copy again; it is made if there is none. What it has beyond goes.
outcome put_container_back(const std::string& directory, const container_row& row);
/// Whether the copy is there and as long as it was; of a row that has none there is nothing to check.
outcome check_copy_size(const std::string& directory, const container_row& row);
/// The same, and its checksum, if it has one.
outcome check_copy(const std::string& directory, const container_row& row);

}  // namespace quire::checkpoint
