// SPDX-License-Identifier: BSD-3-Clause
// Streams of C++ on files, and the file system, used by threads of all nodes.
#include <omp.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int threads = 4;

std::string read_all(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

int main() {
  char pattern[] = "/tmp/quire_file_streams_XXXXXX";
  const std::string directory = mkdtemp(pattern), name = directory + "/log";
  {
    std::ofstream log(name);
    int lines = 0;
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 200; ++i) {
#pragma omp critical
      {
        log << "line " << ++lines << ' ' << std::setprecision(3) << lines / 7.0
            << std::string(static_cast<std::size_t>(lines % 90), '.');
        if (i % 10 == 0) {
          log << std::endl;
        } else {
          log << '\n';
        }
      }
    }
    std::cout << "position " << log.tellp() << '\n';
  }
  const std::string text = read_all(name);
  std::cout << text.size() << '\n' << text;

  std::ifstream in(name);
  std::vector<std::string> found(8);
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
  for (int i = 0; i < 8; ++i) {
#pragma omp ordered
    {
      std::string word;
      int number = 0;
      double value = 0;
      in >> word >> number >> value;
      std::getline(in, word);
      found[static_cast<std::size_t>(i)] =
          std::to_string(number) + ' ' + std::to_string(value) + word + ' ' + std::to_string(in.tellg());
      if (i == 5) in.seekg(static_cast<long>(text.find("line 99 ")));
    }
  }
  for (const auto& f : found) std::cout << f << '\n';

  std::vector<std::string> said(threads);
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
    std::ostringstream say;
    const std::string own = directory + "/own." + std::to_string(me);
    std::fstream file(own, std::ios::in | std::ios::out | std::ios::trunc);
    file << "written by " << me << std::string(20000, static_cast<char>('a' + me));
    file.seekg(3);
    std::string back;
    file >> back;
    say << back << ' ' << file.good();
    file.close();
    std::ofstream full("/dev/full");
    full << std::string(10000, 'x') << std::flush;
    say << " full: " << full.good();
    std::ifstream none("/none/of this");
    say << " none: " << none.is_open();
    std::ofstream read_only(directory);
    say << " a directory: " << read_only.is_open();
    say << " size " << std::filesystem::file_size(own);
#pragma omp barrier
    const int next = (me + 1) % threads;
    std::filesystem::rename(directory + "/own." + std::to_string(next), directory + "/renamed." + std::to_string(next));
#pragma omp barrier
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    for (const auto& one : names) say << ' ' << one;
#pragma omp barrier
    std::filesystem::create_directories(directory + "/of " + std::to_string(me) + "/within/it");
    std::filesystem::copy_file(directory + "/renamed." + std::to_string(me),
                               directory + "/of " + std::to_string(me) + "/copy");
    said[static_cast<std::size_t>(me)] = say.str();
  }
  for (const auto& one : said) std::cout << one << '\n';
  std::cout << std::filesystem::exists(directory + "/of 3/within") << ' '
            << std::filesystem::file_size(directory + "/of 3/copy") << '\n';
  std::uintmax_t removed = 0;
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == threads - 1) removed = std::filesystem::remove_all(directory);
  std::cout << "removed " << removed << ' ' << std::filesystem::exists(directory) << '\n';
  return 0;
}
