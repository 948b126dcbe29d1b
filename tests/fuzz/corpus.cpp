// SPDX-License-Identifier: BSD-3-Clause
// In place of a fuzzer: gives each file of a folder to the decoder, in memory of just its length, and every beginning
// of it. corpus FOLDER. Fails where the decoder does, or where the folder is empty.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace {

void give(const std::vector<char>& content, std::size_t bytes) {
  const auto exact = std::make_unique<std::uint8_t[]>(bytes);  // so that a sanitizer sees a read beyond the end
  std::copy_n(content.begin(), bytes, exact.get());
  (void)LLVMFuzzerTestOneInput(exact.get(), bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
    const std::size_t step = content.size() / 64 + 1;
    for (std::size_t bytes = 0; bytes < content.size(); bytes += step) give(content, bytes);
    give(content, content.size());
    ++files;
  }
  std::printf("%d files\n", files);
  return files > 0 ? 0 : 1;
}
