/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes without MPI in one trace, which VTserver writes (Intel Trace Collector guide, sections 2.14.2 and 2.14.3). This program
 * starts the clients; they pass a number around by pipes. It gathers their contacts and gives them to VTserver, which is rank 0. Errors
 * are not handled: clientserver.c is longer.
 *
 *     cc simplecs.c `pkg-config --cflags --libs VTcs` -o simplecs
 *     ./simplecs 3 --logfile-name simplecs.stf
 *
 * Its exit status is that of VTserver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <VT.h>

enum { ROUNDS = 10, TAG = 7, MOST = 64, WORD = 2000 };

/* Client `rank` of n, from 1: reads from the one before it and writes to the one after it. */
static int run_client(int rank, int n, int from, int to, int contacts)
{
	int before = rank > 1 ? rank - 1 : n, after = rank < n ? rank + 1 : 1, number = 0, i;
	const char *contact = NULL;
	char line[WORD] = "";

	/* *contact NULL: this client is started before its server */
	if (VT_clientinit(rank, "ring", &contact) != VT_OK) {
		return 1;
	}
	snprintf(line, sizeof(line), "%s", contact);
	if (write(contacts, line, sizeof(line)) < 0 || VT_initialize(NULL, NULL) != VT_OK) {
		return 1;
	}
	for (i = 0; i < ROUNDS; i++) {
		if (rank > 1) {
			number = read(from, &number, sizeof(number)) > 0 ? number + 1 : -1;
			VT_log_recvmsg(before, sizeof(number), TAG, VT_COMM_WORLD, VT_NOSCL);
		}
		VT_log_sendmsg(after, sizeof(number), TAG, VT_COMM_WORLD, VT_NOSCL);
		if (write(to, &number, sizeof(number)) < 0) {
			return 1;
		}
		if (rank == 1) {
			number = read(from, &number, sizeof(number)) > 0 ? number + 1 : -1;
			VT_log_recvmsg(before, sizeof(number), TAG, VT_COMM_WORLD, VT_NOSCL);
		}
	}
	return VT_finalize() == VT_OK && (rank > 1 || number == ROUNDS * n) ? 0 : 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, link[MOST][2], contacts[2], status = 1, failed = 0, i, k = 0;
	static char word[MOST][WORD];
	char *command[2 * MOST] = { (char *)"VTserver" };

	if (n < 1 || n >= MOST || argc > MOST) {
		fprintf(stderr, "usage: simplecs CLIENTS [--OPTION [VALUE]]...\n");
		return 2;
	}
	for (i = 0; i < n; i++) {
		failed |= pipe(link[i]);
	}
	failed |= pipe(contacts);
	for (i = 0; i < n; i++) {
		if (fork() == 0) {
			_exit(run_client(i + 1, n, link[i][0], link[(i + 1) % n][1], contacts[1]));
		}
	}
	close(contacts[1]);
	/* in any order */
	while (k < n && read(contacts[0], word[k], WORD) == WORD) {
		command[k + 1] = word[k];
		k++;
	}
	memcpy(command + k + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
	if (!failed && k == n && fork() == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	while (wait(&status) > 0) {
		failed |= status;
	}
	return failed ? 1 : 0;
}
