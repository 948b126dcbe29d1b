// SPDX-License-Identifier: BSD-3-Clause
// What it imports is on some nodes only.
extern "C" int only_here(int);
extern "C" int call_partial(int value) { return only_here(value); }
