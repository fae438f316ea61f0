/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that start others, without MPI, in one trace (Intel Trace Collector guide, section 2.14.5). The first process is a server
 * with no clients. It forks two children and attaches them; each of them does the same, as often as the depth says. Parent and
 * children speak by pipes, and log that in the communicator of VT_attach() and VT_get_parent(); the first child also
 * writes to the second one, in their own VT_COMM_WORLD.
 *
 *     cc forkcs.c `pkg-config --cflags --libs VTcs` -o forkcs
 *     ./forkcs 2
 *
 * forkcs.stf has 1 + 2 + 4 processes. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <VT.h>

enum { CHILDREN = 2, ASK = 1, ANSWER = 2, SIBLING = 3 };

static int fail(const char *what)
{
	fprintf(stderr, "forkcs: %s failed\n", what);
	return 1;
}

/* A number goes to `to` of this communicator: into the pipe, and into the trace. */
static int put(int fd, int comm, int to, int tag, int number)
{
	return VT_log_sendmsg(to, sizeof(number), tag, comm, VT_NOSCL) == VT_OK &&
		write(fd, &number, sizeof(number)) == (ssize_t)sizeof(number);
}

static int get(int fd, int comm, int from, int tag, int *number)
{
	return read(fd, number, sizeof(*number)) == (ssize_t)sizeof(*number) &&
		VT_log_recvmsg(from, sizeof(*number), tag, comm, VT_NOSCL) == VT_OK;
}

static int run_parent(int depth, const char *contact);

/* Pipes of a parent and its children. */
struct pipes {
	int down[CHILDREN][2], up[CHILDREN][2], across[2];
};

static int run_child(int i, int depth, const char *contact, const struct pipes *p)
{
	int parent, number, rank, failed;

	/* the contact of the parent, without S */
	if (VT_clientinit(i, "child", &contact) != VT_OK || VT_initialize(NULL, NULL) != VT_OK ||
		VT_get_parent(&parent) != VT_OK || VT_getrank(&rank) != VT_OK || rank != i) {
		return fail("a child's beginning");
	}
	/* the parent is rank 0 of this communicator */
	failed = !get(p->down[i][0], parent, 0, ASK, &number) || !put(p->up[i][1], parent, 0, ANSWER, number + 1);
	failed = failed ||
		!(i == 0 ? put(p->across[1], VT_COMM_WORLD, 1, SIBLING, 7)
			 : get(p->across[0], VT_COMM_WORLD, 0, SIBLING, &number) && number == 7);
	failed = failed || (depth > 1 && run_parent(depth - 1, contact));
	return VT_finalize() != VT_OK || failed;
}

/* contact: of this process, which is in the trace already. */
static int run_parent(int depth, const char *contact)
{
	struct pipes p;
	int i, comm, number, status, failed = pipe(p.across);

	for (i = 0; i < CHILDREN; i++) {
		failed |= pipe(p.down[i]) | pipe(p.up[i]);
		if (fork() == 0) {
			_exit(run_child(i, depth, contact, &p));
		}
	}
	if (failed || VT_attach(0, VT_COMM_SELF, CHILDREN, &comm) != VT_OK) {
		failed = fail("VT_attach");
	}
	/* child i is rank 1 + i of this communicator */
	for (i = 0; i < CHILDREN && !failed; i++) {
		failed = !put(p.down[i][1], comm, 1 + i, ASK, i) || !get(p.up[i][0], comm, 1 + i, ANSWER, &number) ||
			number != i + 1;
	}
	for (i = 0; i < CHILDREN; i++) {
		failed |= wait(&status) < 0 || status;
		close(p.down[i][0]);
		close(p.down[i][1]);
		close(p.up[i][0]);
		close(p.up[i][1]);
	}
	close(p.across[0]);
	close(p.across[1]);
	return failed;
}

int main(int argc, char **argv)
{
	const char *contact = NULL;
	int depth = argc > 1 ? atoi(argv[1]) : 1, failed;

	if (VT_serverinit("server", 0, NULL, &contact) != VT_OK || VT_initialize(&argc, &argv) != VT_OK) {
		return fail("the beginning");
	}
	failed = run_parent(depth, contact);
	return VT_finalize() != VT_OK || failed;
}
