// SPDX-License-Identifier: BSD-3-Clause
static thread_local int calls_of_thread = 0;
extern "C" int count_calls() { return ++calls_of_thread; }
