// SPDX-License-Identifier: BSD-3-Clause
// Standard input is one file, whichever thread reads it: here it is this text.
#include <omp.h>
#include <stdio.h>

#include <iostream>
#include <string>

int main() {
  std::string all;
#pragma omp parallel for ordered schedule(static, 1) num_threads(4)
  for (int i = 0; i < 8; ++i) {
#pragma omp ordered
    {
      char first[100] = "", word[100] = "";
      std::string second, third;
      if (fgets(first, sizeof first, stdin) != nullptr) all += std::to_string(i) + ' ' + first;
      all += getchar();
      all += static_cast<char>(getc_unlocked(stdin));
      all += static_cast<char>(getchar_unlocked());
      if (scanf("%99s", word) == 1) all += word;
      std::cin >> second;
      std::getline(std::cin, third);
      all += '|' + second + '|' + third + '\n';
    }
  }
  std::cout << all;
  return 0;
}
