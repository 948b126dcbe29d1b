// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A function of libgomp's interface, by its name.
#define QUIRE_GOMP extern "C" __attribute__((visibility("default")))
