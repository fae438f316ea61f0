/* SPDX-License-Identifier: BSD-3-Clause */
/* A server and a client that make a trace, three times in one run of the program: 5, 10 and 15 questions with an answer. A function of
 * the first round is used in all, each round has one of its own, and a trace of its own by VT_LOGFILE_NAME. "thread": a thread of the
 * first round stays. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <VT.h>

enum { ROUNDS = 3, TAG = 1, WORD = 2000 };

static int all; /* the function that is defined once */

static void *record_and_stay(void *barrier)
{
	VT_enter(all, VT_NOSCL);
	VT_leave(VT_NOSCL);
	pthread_barrier_wait(barrier);
	pause();
	return NULL;
}

static int start_thread(void)
{
	static pthread_barrier_t barrier;
	pthread_t thread;
	int good;

	pthread_barrier_init(&barrier, NULL, 2);
	good = pthread_create(&thread, NULL, record_and_stay, &barrier) == 0;
	pthread_barrier_wait(&barrier);
	return good;
}

static int put(int fd, int to, int number)
{
	return VT_log_sendmsg(to, sizeof(number), TAG, VT_COMM_WORLD, VT_NOSCL) == VT_OK &&
		write(fd, &number, sizeof(number)) == (ssize_t)sizeof(number);
}

static int get(int fd, int from)
{
	int number;

	return recv(fd, &number, sizeof(number), MSG_WAITALL) == (ssize_t)sizeof(number) &&
		VT_log_recvmsg(from, sizeof(number), TAG, VT_COMM_WORLD, VT_NOSCL) == VT_OK;
}

static int join(int fd, int is_server)
{
	char word[WORD] = "";
	const char *contact = NULL;

	if (is_server) {
		if (VT_serverinit("rounds", 1, NULL, &contact) != VT_OK) {
			return 0;
		}
		snprintf(word, sizeof(word), "S%s", contact); /* S: of a server */
		return write(fd, word, sizeof(word)) == (ssize_t)sizeof(word);
	}
	contact = word;
	return recv(fd, word, sizeof(word), MSG_WAITALL) == (ssize_t)sizeof(word) &&
		VT_clientinit(1, "rounds", &contact) == VT_OK;
}

static int play(int fd, int is_server, int round, int with_thread)
{
	char name[40];
	int own, i, rank = -1, good;

	snprintf(name, sizeof(name), "round%d.stf", round);
	setenv("VT_LOGFILE_NAME", name, 1);
	if (!join(fd, is_server) || VT_initialize(NULL, NULL) != VT_OK || VT_getrank(&rank) != VT_OK ||
		rank == is_server) {
		return 0;
	}
	snprintf(name, sizeof(name), "round %d", round);
	good = (round > 1 || VT_funcdef("all", VT_NOCLASS, &all) == VT_OK) &&
		VT_funcdef(name, VT_NOCLASS, &own) == VT_OK && VT_enter(all, VT_NOSCL) == VT_OK;
	good = good && (!with_thread || start_thread());
	for (i = 0; good && i < 5 * round; i++) {
		good = VT_enter(own, VT_NOSCL) == VT_OK &&
			(is_server ? put(fd, 1, i) && get(fd, 1) : get(fd, 0) && put(fd, 0, i)) &&
			VT_leave(VT_NOSCL) == VT_OK;
	}
	return good && VT_leave(VT_NOSCL) == VT_OK && VT_finalize() == VT_OK;
}

int main(int argc, char **argv)
{
	int fd[2], round, status = 0, is_server, good = 1;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0 || (child = fork()) < 0) {
		return 1;
	}
	is_server = child > 0;
	close(fd[!is_server]);
	for (round = 1; good && round <= ROUNDS; round++) {
		good = play(fd[is_server], is_server, round, argc > 1 && !strcmp(argv[1], "thread") && is_server);
	}
	if (!good) {
		fprintf(stderr, "%s: round %d failed\n", is_server ? "server" : "client", round - 1);
	}
	close(fd[is_server]);
	return (is_server && (waitpid(child, &status, 0) != child || status != 0)) || !good;
}
