/* SPDX-License-Identifier: BSD-3-Clause */
/* A server and its clients, without MPI, in one trace on corrected time (Intel Trace Collector guide, section 2.14). The program has its
 * own network, over which it also logs its messages; the contact of the trace goes to the clients as an argument.
 *
 *     cc clientserver.c `pkg-config --cflags --libs VTcs` -o clientserver
 *     ./clientserver server 7000 2 >contact &           # two clients will come
 *     ./clientserver client HOST 7000 1 "$(cat contact)"     # on any node
 *     ./clientserver client HOST 7000 2 "$(cat contact)"
 *
 * Or the clients are started first, and each prints a contact for the server:
 *
 *     ./clientserver client HOST 7000 1 >contact1 &
 *     ./clientserver client HOST 7000 2 >contact2 &
 *     ./clientserver server 7000 2 "$(cat contact1)" "$(cat contact2)"
 *
 * clientserver.stf is in the folder of the server when all have ended. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <VT.h>

enum { ROUNDS = 50, TAG = 1 };

static int fail(const char *what)
{
	fprintf(stderr, "clientserver: %s failed\n", what);
	return 1;
}

/* A number goes to rank `to`, or comes from rank `from`: over the program's own connection, and into the trace. */
static int put(int fd, int to, int number)
{
	return VT_log_sendmsg(to, sizeof(number), TAG, VT_COMM_WORLD, VT_NOSCL) == VT_OK &&
		write(fd, &number, sizeof(number)) == (ssize_t)sizeof(number);
}

static int get(int fd, int from, int *number)
{
	return recv(fd, number, sizeof(*number), MSG_WAITALL) == (ssize_t)sizeof(*number) &&
		VT_log_recvmsg(from, sizeof(*number), TAG, VT_COMM_WORLD, VT_NOSCL) == VT_OK;
}

static int serve(int listening, int clients)
{
	int i, k, number, *client = calloc((size_t)clients + 1, sizeof(*client));

	/* each begins with its rank */
	for (i = 0; i < clients; i++) {
		int fd = accept(listening, NULL, NULL);

		if (fd < 0 || recv(fd, &number, sizeof(number), MSG_WAITALL) < 0 || number < 1 || number > clients) {
			return fail("a client's beginning");
		}
		client[number] = fd;
	}
	for (i = 0; i < ROUNDS; i++) {
		for (k = 1; k <= clients; k++) {
			if (!put(client[k], k, i) || !get(client[k], k, &number) || number != i * k) {
				return fail("a question");
			}
		}
	}
	free(client);
	return 0;
}

static int answer(int fd, int rank)
{
	int i, number;

	if (write(fd, &rank, sizeof(rank)) < 0) {
		return fail("the beginning");
	}
	for (i = 0; i < ROUNDS; i++) {
		if (!get(fd, 0, &number) || !put(fd, 0, number * rank)) {
			return fail("an answer");
		}
	}
	return 0;
}

/* Connects, for ten seconds at most; host NULL: listens. */
static int open_port(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *a = NULL;
	int fd = -1, on = 1, i;

	if (getaddrinfo(host, port, &hints, &a) != 0) {
		return -1;
	}
	for (i = 0; i < 100 && fd < 0; i++) {
		fd = socket(a->ai_family, a->ai_socktype, 0);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (host ? connect(fd, a->ai_addr, a->ai_addrlen) < 0
			 : bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, 16) < 0) {
			close(fd);
			fd = -1;
			nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
		}
	}
	freeaddrinfo(a);
	return fd;
}

/* Prints the contact that the others need. */
static int begin_server(int clients, int numcontacts, char **contacts)
{
	const char *contact = NULL;

	if (numcontacts && numcontacts != clients) {
		return fail("a contact for each client");
	}
	if (VT_serverinit("server", clients, numcontacts ? (const char **)contacts : NULL, &contact) != VT_OK) {
		return fail("VT_serverinit");
	}
	printf("%s\n", contact);
	return fflush(stdout);
}

static int begin_client(int rank, const char *server)
{
	const char *contact = NULL;
	char word[2000];

	if (server) {
		/* S: the server was started first */
		snprintf(word, sizeof(word), "S%s", server);
		contact = word;
	}
	if (VT_clientinit(rank, "client", &contact) != VT_OK) {
		return fail("VT_clientinit");
	}
	if (!server) {
		printf("%s\n", contact);
	}
	return fflush(stdout);
}

int main(int argc, char **argv)
{
	int server = argc >= 4 && !strcmp(argv[1], "server"), client = argc >= 5 && !strcmp(argv[1], "client");
	int rank, fd, rc;

	if (!server && !client) {
		fprintf(stderr,
			"usage: clientserver server PORT CLIENTS [CONTACT]... | client HOST PORT RANK [CONTACT]\n");
		return 2;
	}
	rc = server ? begin_server(atoi(argv[3]), argc - 4, argv + 4) : begin_client(atoi(argv[4]), argv[5]);
	if (rc) {
		return rc;
	}
	if (VT_initialize(&argc, &argv) != VT_OK || VT_getrank(&rank) != VT_OK) {
		return fail("VT_initialize");
	}
	fd = server ? open_port(NULL, argv[2]) : open_port(argv[2], argv[3]);
	if (fd < 0) {
		return fail("the network");
	}
	rc = server ? serve(fd, atoi(argv[3])) : answer(fd, rank);
	close(fd);
	return VT_finalize() == VT_OK ? rc : 1;
}
