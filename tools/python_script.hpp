// SPDX-License-Identifier: BSD-3-Clause
// Whether a command line starts a Python program that knows nothing of Quire, which `quire run` then starts by `quire
// exec --openmp`: the interpreter on node 0, regions of OpenMP in its libraries on all nodes.
#pragma once

#include <span>
#include <string>

namespace quire::tools {

/// The file of the program: of `python3 [OPTION...] FILE` and `python3 [OPTION...] -m MODULE`, whose module lies in the
/// working folder. Empty, if there is none, or if it, or a module beside it that it imports, names quire, libquire or
/// mpi4py outside of comments.
[[nodiscard]] std::string stock_python_program(std::span<const std::string> command);

}  // namespace quire::tools
