/* SPDX-License-Identifier: BSD-3-Clause */
/* As forkcs.c, but all processes are there from the beginning (Intel Trace Collector guide, section 2.14.4): the server forks its clients
 * before VT_initialize(), and they are ranks 1 and up of one VT_COMM_WORLD. The server asks and the clients answer by pipes.
 *
 *     cc forkcs2.c `pkg-config --cflags --libs VTcs` -o forkcs2
 *     ./forkcs2 3
 *
 * forkcs2.stf is there when all have ended. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <VT.h>

enum { ROUNDS = 20, TAG = 5, MOST = 64 };

static int put(int fd, int to, int number)
{
	return VT_log_sendmsg(to, sizeof(number), TAG, VT_COMM_WORLD, VT_NOSCL) == VT_OK &&
		write(fd, &number, sizeof(number)) == (ssize_t)sizeof(number);
}

static int get(int fd, int from, int *number)
{
	return read(fd, number, sizeof(*number)) == (ssize_t)sizeof(*number) &&
		VT_log_recvmsg(from, sizeof(*number), TAG, VT_COMM_WORLD, VT_NOSCL) == VT_OK;
}

static int run_client(int rank, const char *server, int from, int to)
{
	const char *contact;
	char word[2000];
	int i, number, failed = 0;

	/* S: the server was started first */
	snprintf(word, sizeof(word), "S%s", server);
	contact = word;
	if (VT_clientinit(rank, "client", &contact) != VT_OK || VT_initialize(NULL, NULL) != VT_OK) {
		return 1;
	}
	for (i = 0; i < ROUNDS && !failed; i++) {
		failed = !get(from, 0, &number) || !put(to, 0, number * rank);
	}
	return VT_finalize() != VT_OK || failed;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2, down[MOST][2], up[MOST][2], i, k, number, status, failed = 0;
	const char *contact = NULL;

	if (n < 1 || n > MOST || VT_serverinit("server", n, NULL, &contact) != VT_OK) {
		fprintf(stderr, "forkcs2: cannot begin with %d clients\n", n);
		return 1;
	}
	for (k = 0; k < n; k++) {
		failed |= pipe(down[k]) | pipe(up[k]);
		if (fork() == 0) {
			_exit(run_client(k + 1, contact, down[k][0], up[k][1]));
		}
	}
	failed |= VT_initialize(&argc, &argv) != VT_OK;
	for (i = 0; i < ROUNDS && !failed; i++) {
		for (k = 0; k < n && !failed; k++) {
			failed = !put(down[k][1], k + 1, i) || !get(up[k][0], k + 1, &number) || number != i * (k + 1);
		}
	}
	while (wait(&status) > 0) {
		failed |= status;
	}
	return VT_finalize() != VT_OK || failed;
}
