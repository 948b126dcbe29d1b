// SPDX-License-Identifier: BSD-3-Clause
// Variables of more than a granule of addresses, and code of several pages.
extern "C" {
long large[12l << 20];
long first_large = 3;
long sum_large(long step) {
  long sum = first_large;
  for (long i = 0; i < static_cast<long>(sizeof large / sizeof *large); i += step) sum += large[i];
  return sum;
}
}
