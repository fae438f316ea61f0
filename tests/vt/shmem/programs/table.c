/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles only if the table of calls declares each as the headers of OpenSHMEM do; then prints its names. */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>

#include "tests/vt/shmem/programs/declared.h"
#define CALL(kind, result, name, params, ...) \
	result name params; \
	static result(*const ptr_##name) params __attribute__((unused)) = name;
#include "collector-plugin/shmem/calls.def"
#undef CALL

int main(void)
{
#define CALL(kind, result, name, ...) puts(#name);
#include "collector-plugin/shmem/calls.def"
	return 0;
}
