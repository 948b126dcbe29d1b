// SPDX-License-Identifier: BSD-3-Clause
extern "C" int only_here(int value) { return value + 5; }
