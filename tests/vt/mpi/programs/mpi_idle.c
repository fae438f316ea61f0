/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks, of which one waits for the other, in the way that the argument names. A message has the time at which it is sent, so the
 * one that waits prints how long, in nanoseconds: "wait KIND|0:RANK|MPI:CALL|TIME|CAUSE". The clocks of two hosts differ by whole
 * multiples of 1000 s. The states and counters of the program are no waits. */
#include <VT.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void sleep_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static void say(const char *call, double since, double sent)
{
	double waited = fmod(fmod(sent - since, 1e12) + 1.5e12, 1e12) - 5e11;

	printf("wait one|0:%d|MPI:%s|%.0f|0:%d\n", rank, call, waited, 1 - rank);
	fflush(stdout);
}

static void send_time(int to, int tag)
{
	double t = now();

	MPI_Send(&t, 1, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
}

static void receive(int from, int tag)
{
	double since = now(), sent;

	MPI_Recv(&sent, 1, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	say("MPI_Recv", since, sent);
}

static void *receive_in_thread(void *tag)
{
	receive(1, *(const int *)tag);
	return NULL;
}

static void threads(void)
{
	int tag[] = { 0, 1 }, i;
	pthread_t t[2];

	for (i = 0; i < 2; i++) {
		if (rank == 0) {
			pthread_create(&t[i], NULL, receive_in_thread, &tag[i]);
		} else {
			sleep_ms(200);
			send_time(0, i);
		}
	}
	for (i = 0; rank == 0 && i < 2; i++) {
		pthread_join(t[i], NULL);
	}
}

static void probe(void)
{
	double since = now(), sent;

	if (rank == 1) {
		sleep_ms(200);
		send_time(0, 0);
	} else {
		MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(&sent, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		say("MPI_Probe", since, sent);
	}
}

/* Each waits for the other, who may be on another host. */
static void turns(void)
{
	int i;

	for (i = 0; i < 6; i++) {
		if (rank == i % 2) {
			receive(1 - rank, 0);
		} else {
			sleep_ms(100);
			send_time(1 - rank, 0);
		}
	}
}

/* What the program itself logs. */
static void user(void)
{
	int state, counter, scope, seqnr;
	long long value = 1;

	VT_funcdef("work", VT_NOCLASS, &state);
	VT_countdef("steps", VT_NOCLASS, VT_COUNT_INTEGER64 | VT_COUNT_ABSVAL, VT_ME, NULL, "#", &counter);
	VT_scopedef("phase", VT_NOCLASS, VT_NOSCL, VT_NOSCL, &scope);
	VT_begin(state);
	VT_scopebegin(scope, VT_NOSCL, &seqnr);
	VT_countval(1, &counter, &value);
	VT_log_sendmsg(1 - rank, 10, 5, VT_COMM_WORLD, VT_NOSCL);
	turns();
	VT_log_recvmsg(1 - rank, 10, 5, VT_COMM_WORLD, VT_NOSCL);
	VT_scopeend(scope, seqnr, VT_NOSCL);
	VT_end(state);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "turns";
	int level, x;

	MPI_Init_thread(&argc, &argv, strcmp(how, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(how, "threads")) {
		threads();
	} else if (!strcmp(how, "probe")) {
		probe();
	} else if (!strcmp(how, "user")) {
		user();
	} else if (!strcmp(how, "hang")) {
		if (rank == 0) {
			MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		pause();
	} else {
		turns();
	}
	MPI_Finalize();
	return 0;
}
