# SPDX-License-Identifier: BSD-3-Clause
# A program that knows nothing of Quire, which a test starts by `quire run`: at a fixed address ("fixed"), or at any.
function(stock_form name form)
  if(form STREQUAL "fixed")
    target_compile_options(${name} PRIVATE -fno-pie)
    target_link_options(${name} PRIVATE -no-pie)
  else()
    target_compile_options(${name} PRIVATE -fPIE)
    target_link_options(${name} PRIVATE -pie)
  endif()
  add_dependencies(${name} quire_tool quire_omp)
endfunction()
