// SPDX-License-Identifier: BSD-3-Clause
extern "C" int no_such_function(int);
extern "C" int call_missing(int value) { return no_such_function(value); }
