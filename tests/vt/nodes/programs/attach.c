/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that forks and attaches: attach.c CASE. Prints what VT_attach returns, and each child what VT_initialize returns.
 * attach.c hosts: it attaches two processes of other hosts, attach.c child PROCID CONTACT. "dies": a child is killed. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <VT.h>

static int sent[2]; /* a byte for each message to the parent */
static int dies;

/* A child with this procid; it writes to its parent. Returns its process id. */
static pid_t start_child(int procid, const char *contact)
{
	int parent, rc;
	pid_t pid = fork();

	if (pid == 0) {
		if (VT_clientinit(procid, "child", &contact) != VT_OK) {
			_exit(3);
		}
		rc = VT_initialize(NULL, NULL);
		dprintf(1, "child %d: %d\n", procid, rc);
		if (rc == VT_OK && VT_get_parent(&parent) == VT_OK) {
			VT_log_sendmsg(0, 100 + procid, 1, parent, VT_NOSCL);
			if (dies && procid == 1) {
				kill(getpid(), SIGKILL);
			}
			VT_log_op(VT_OP_BARRIER, parent, 0, 0, 0, VT_timestamp(), VT_NOSCL);
			if (write(sent[1], "", 1) < 1) {
				_exit(1);
			}
			VT_finalize();
		}
		_exit(rc != VT_OK);
	}
	return pid;
}

/* After the other end of the pipe was closed here: does somebody else hold it? */
static int is_held(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 3000) <= 0;
}

static void attach_children(int n)
{
	int comm = 7, i, rc = VT_attach(0, VT_COMM_SELF, n, &comm);
	int come = n - (dies && n > 1);
	char byte;

	dprintf(1, "attach: %d %d\n", rc, comm);
	for (i = 0; rc == VT_OK && i < come && read(sent[0], &byte, 1) == 1; i++) {
	}
	for (i = 0; rc == VT_OK && i < come; i++) {
		VT_log_recvmsg(1 + i, 100 + i, 1, comm, VT_NOSCL);
	}
	if (rc == VT_OK) {
		VT_log_op(VT_OP_BARRIER, comm, 0, 0, 0, VT_timestamp(), VT_NOSCL);
		dprintf(1, "outside: %d\n", VT_log_sendmsg(n + 1, 1, 1, comm, VT_NOSCL));
	}
}

static void *abort_soon(void *unused)
{
	(void)unused;
	sleep(2);
	dprintf(1, "abort: %d\n", VT_abort());
	return NULL;
}

/* On another host than the parent: pings over a folder that both see, from each of them to rank 0 and back. */
static int pass_pings(int comm, int self, int other, const char *folder)
{
	char here[300], there[300];
	int i;

	for (i = 0; i < 20; i++) {
		snprintf(there, sizeof(there), "%s/ping.%d.%d.%d", folder, self, other, i);
		snprintf(here, sizeof(here), "%s/ping.%d.%d.%d", folder, other, self, i);
		if (self) {
			VT_log_sendmsg(other, 8, i, comm, VT_NOSCL);
			fclose(fopen(there, "w"));
		}
		while (access(here, F_OK) < 0) {
			usleep(100);
		}
		VT_log_recvmsg(other, 8, i, comm, VT_NOSCL);
		if (!self) {
			VT_log_sendmsg(other, 8, i, comm, VT_NOSCL);
			fclose(fopen(there, "w"));
		}
	}
	return 0;
}

static int run_remote_child(int procid, const char *contact, const char *folder)
{
	int parent;

	return VT_clientinit(procid, "child", &contact) != VT_OK || VT_initialize(NULL, NULL) != VT_OK ||
		VT_get_parent(&parent) != VT_OK || pass_pings(parent, 1 + procid, 0, folder) || VT_finalize() != VT_OK;
}

static int attach_hosts(const char *contact, const char *folder)
{
	int comm;

	printf("%s\n", contact);
	fflush(stdout);
	return VT_attach(0, VT_COMM_SELF, 2, &comm) != VT_OK || pass_pings(comm, 0, 1, folder) ||
		pass_pings(comm, 0, 2, folder);
}

static void start_children(const char *what, const char *contact)
{
	pthread_t t;
	pid_t pid;

	if (!strcmp(what, "missing")) {
		start_child(1, contact);
		attach_children(2);
	} else if (!strcmp(what, "alone")) {
		start_child(0, contact);
	} else if (!strcmp(what, "same")) {
		start_child(4, contact);
		start_child(4, contact);
		attach_children(2);
	} else if (!strcmp(what, "abort")) {
		pthread_create(&t, NULL, abort_soon, NULL);
		attach_children(1);
		pthread_join(t, NULL);
		/* what was given up takes no child */
		start_child(1, contact);
		sleep(1);
		start_child(0, contact);
		attach_children(2);
	} else if (!strcmp(what, "killed")) {
		pid = start_child(0, contact);
		sleep(2);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		start_child(1, contact);
		start_child(0, contact);
		attach_children(2);
	} else {
		/* two rounds, the children in any order */
		start_child(1, contact);
		start_child(0, contact);
		attach_children(2);
		start_child(0, contact);
		attach_children(1);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *contact = NULL;
	int held[2], status = 0, first = !strcmp(what, "first");

	/* first: a client that is started before its server has children, too */
	if (argc == 5) {
		return run_remote_child(atoi(argv[2]), argv[3], argv[4]);
	}
	dies = !strcmp(what, "dies");
	if (pipe(sent) < 0 || pipe(held) < 0) {
		return 1;
	}
	if ((first ? VT_clientinit(1, "parent", &contact) : VT_serverinit("server", 0, NULL, &contact)) != VT_OK) {
		return 1;
	}
	close(held[1]);
	if (is_held(held[0])) {
		dprintf(1, "VTserver holds a pipe of the program\n");
	}
	if (first) {
		dprintf(2, "%s\n", contact);
	}
	if (VT_initialize(&argc, &argv) != VT_OK) {
		return 1;
	}
	if (!strcmp(what, "hosts")) {
		status = attach_hosts(contact, argv[2]);
		return VT_finalize() != VT_OK || status;
	}
	if (!strcmp(what, "leaves")) {
		start_child(0, contact);
		sleep(1);
		return VT_finalize() != VT_OK;
	}
	start_children(what, contact);
	while (wait(&status) > 0) {
	}
	return VT_finalize() != VT_OK;
}
