/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that a setuid program must not load. */
#include <fcntl.h>
#include <stdlib.h>

__attribute__((constructor)) static void run(void)
{
	open(getenv("EVIL"), O_CREAT | O_WRONLY, 0644);
}
