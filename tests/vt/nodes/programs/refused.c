/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of VT_ that connect processes, each with nobody to connect to: prints what each returns. */
#include <stdio.h>
#include <VT.h>
int main(int argc, char **argv)
{
	const char *none = NULL,
		   *word = "Slocalhost:1:0000000000000000000000000000000000000000000000000000000000000000";
	static const char *many[2000];
	int comm = 7, parent = 7, i;

	for (i = 0; i < 2000; i++) {
		many[i] = word;
	}

	printf("%d ", VT_abort());
	printf("%d ", VT_serverinit("server", 2000, many, &none));
	printf("%d ", VT_serverinit("server", 1, &word, &none));
	printf("%d ", VT_clientinit(1, "client", &word));
	printf("%d ", VT_initialize(&argc, &argv));
	printf("%d ", VT_attach(0, VT_COMM_WORLD, 1, &comm));
	printf("%d ", comm == VT_COMM_INVALID);
	printf("%d\n", VT_get_parent(&parent));
	return 0;
}
