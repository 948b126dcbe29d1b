// SPDX-License-Identifier: BSD-3-Clause
// A library with a name as that of libstdc++ calls each operator new, and the operator delete that goes with it.
#include <cstddef>
#include <new>

extern "C" void make_each() {
  constexpr std::size_t bytes = 700;
  constexpr auto most = std::align_val_t{256};
  ::operator delete(::operator new(bytes));
  ::operator delete[](::operator new[](bytes));
  ::operator delete(::operator new(bytes, most), most);
  ::operator delete[](::operator new[](bytes, most), most);
  ::operator delete(::operator new(bytes, std::nothrow), std::nothrow);
  ::operator delete[](::operator new[](bytes, std::nothrow), std::nothrow);
  ::operator delete(::operator new(bytes, most, std::nothrow), most, std::nothrow);
  ::operator delete[](::operator new[](bytes, most, std::nothrow), most, std::nothrow);
}
extern "C" void drop_sized(void* one, void* many) {
  ::operator delete (one, std::size_t{9});
  ::operator delete[](many, std::size_t{9});
}
