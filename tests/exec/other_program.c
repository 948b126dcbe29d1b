/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a function of LLVM's runtime, as its compiler would let it. */
int __kmpc_global_thread_num(void* where);
int main(void) { return __kmpc_global_thread_num((void*)0); }
