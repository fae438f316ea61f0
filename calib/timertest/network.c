/* SPDX-License-Identifier: BSD-3-Clause */
/* timertest without MPI: its processes find each other by a contact word, and exchange messages over TCP. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "collector-plugin/host/program/near.h"
#include "collector-plugin/net/contact.h"
#include "collector-plugin/net/meet.h"

extern char **environ;

enum { MOST_SETTINGS = 1 << 20 };

/* ---- --hosts: a process on each of the other nodes ---- */

static struct {
	struct remote {
		char host[256];
		pid_t pid;
	} * at;
	int n;
} remotes;

/* Starts argv with a pipe as its standard input or output. Returns its pid or -1. */
static pid_t start_with_pipe(char *const *argv, int stream, int *other_end, struct tkm_err *err)
{
	int fd[2];
	pid_t pid = pipe(fd) == 0 ? fork() : -1;

	if (pid == 0) {
		dup2(fd[stream == STDIN_FILENO ? 0 : 1], stream);
		close(fd[0]);
		close(fd[1]);
		execvp(argv[0], argv);
		fprintf(stderr, "%s: cannot run %s: %s\n", program_invocation_short_name, argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0) {
		return tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "cannot start %s", argv[0]);
	}
	close(fd[stream == STDIN_FILENO ? 0 : 1]);
	*other_end = fd[stream == STDIN_FILENO ? 1 : 0];
	return pid;
}

/* The word of a VTserver that is started here. */
static int get_word(const char *interface, char *word, size_t size, struct tkm_err *err)
{
	static const char *const places[] = { VT_NEAR_SERVER, NULL };
	char path[PATH_MAX], own[PATH_MAX];
	char *argv[4] = { path, (char *)(uintptr_t) "--network", (char *)(uintptr_t)interface, NULL };
	int fd, status = 0;
	FILE *f;
	pid_t pid;

	if (vt_find_installed_program(
		    vt_own_program(own, sizeof(own)), places, VT_BINDIR "/VTserver", path, sizeof(path)) < 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "there is no program VTserver beside timertest");
	}
	pid = start_with_pipe(argv, STDOUT_FILENO, &fd, err);
	if (pid < 0) {
		return -1;
	}
	f = fdopen(fd, "r");
	word[0] = '\0';
	if (!f || !fgets(word, (int)size, f)) {
		word[0] = '\0';
	}
	word[strcspn(word, "\n")] = '\0';
	if (f) {
		fclose(f);
	}
	waitpid(pid, &status, 0);
	return *word ? 0 : tkm_fail(err, TKM_ERR_UNAVAIL, "VTserver has printed no contact word");
}

/* Splits `rsh` at blanks and adds host and command. Returns a list to be freed, with the text behind it, or NULL. */
static char **remote_command(const char *rsh, const char *host, const char *command)
{
	size_t room = strlen(rsh) / 2 + 4, n = 0;
	char **argv = malloc(room * sizeof(*argv) + strlen(rsh) + 1);
	char *text = argv ? (char *)(argv + room) : NULL, *save = NULL, *word;

	if (!argv) {
		return NULL;
	}
	memcpy(text, rsh, strlen(rsh) + 1);
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		argv[n++] = word;
	}
	argv[n++] = (char *)(uintptr_t)host;
	argv[n++] = (char *)(uintptr_t)command;
	argv[n] = NULL;
	return argv;
}

static int start_remote(
	const struct cal_test_options *o, struct remote *r, const char *word, int rank, struct tkm_err *err)
{
	char own[PATH_MAX], quoted[2 * PATH_MAX], command[2 * PATH_MAX + 100];
	const char *rsh = o->rsh ? o->rsh : "ssh -o BatchMode=yes", *program = o->remote_program;
	char **argv;
	int fd = -1;

	program = program ? program : getenv(CAL_TEST_PROGRAM);
	program = program ? program : vt_own_program(own, sizeof(own));
	/* the word goes by standard input, because anybody can read the arguments of a process */
	snprintf(command, sizeof(command), "exec %s --join - --rank %d --size %d",
		tkm_shell_word(quoted, sizeof(quoted), program), rank, remotes.n + 1);
	argv = remote_command(rsh, r->host, command);
	r->pid = argv ? start_with_pipe(argv, STDIN_FILENO, &fd, err) : tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	free(argv);
	if (r->pid < 0) {
		return -1;
	}
	if (dprintf(fd, "%s\n", word) < 0) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "%s: %s has ended", r->host, rsh);
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

/* Not this node itself, which is rank 0. */
static int list_remotes(const char *hosts, struct tkm_err *err)
{
	char own[256] = "";
	const char *p = hosts;
	size_t n;

	gethostname(own, sizeof(own) - 1);
	for (; *p; p += n + (p[n] == ',')) {
		struct remote *r;

		n = strcspn(p, ",");
		if (n == 0 || n >= sizeof(r->host) || *p == '-') {
			return tkm_fail(
				err, TKM_ERR_ARG, "--hosts '%s' is no list of host names: HOST[,HOST...]", hosts);
		}
		if ((strlen(own) == n && !strncmp(p, own, n)) || (n == 9 && !strncmp(p, "localhost", n))) {
			continue;
		}
		r = TKM_APPEND(remotes.at, remotes.n);
		if (!r) {
			return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the hosts");
		}
		snprintf(r->host, sizeof(r->host), "%.*s", (int)n, p);
	}
	return remotes.n ? 0 : tkm_fail(err, TKM_ERR_ARG, "--hosts '%s' names no other node than this one", hosts);
}

/* One that ends before all have met will not come. */
static int look_at_remotes(struct tkm_err *err)
{
	int i, status;

	for (i = 0; i < remotes.n; i++) {
		if (remotes.at[i].pid > 0 && waitpid(remotes.at[i].pid, &status, WNOHANG) == remotes.at[i].pid) {
			remotes.at[i].pid = 0;
			return tkm_fail(err, TKM_ERR_UNAVAIL, "the process on %s did not start: status %d",
				remotes.at[i].host, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		}
	}
	return 0;
}

void cal_test_end_remotes(void)
{
	int i, k, left = remotes.n;

	/* they end by themselves, because they have heard the end or lost this process */
	for (k = 0; k < 100 && left > 0; k++) {
		for (i = left = 0; i < remotes.n; i++) {
			if (remotes.at[i].pid > 0 && waitpid(remotes.at[i].pid, NULL, WNOHANG) != 0) {
				remotes.at[i].pid = 0;
			}
			left += remotes.at[i].pid > 0;
		}
		usleep(left ? 50000 : 0);
	}
	for (i = 0; i < remotes.n; i++) {
		if (remotes.at[i].pid > 0) {
			kill(remotes.at[i].pid, SIGTERM);
			waitpid(remotes.at[i].pid, NULL, 0);
		}
	}
	free(remotes.at);
	remotes.at = NULL;
	remotes.n = 0;
}

/* ---- all processes have the options of rank 0 ---- */

/* The number of arguments, the arguments, and the variables of timertest, each ended by a zero byte. */
static char *pack_settings(int argc, char **argv, size_t *n)
{
	char *text = NULL, **e;
	FILE *f = open_memstream(&text, n);
	int i;

	if (!f) {
		return NULL;
	}
	fprintf(f, "%d%c", argc, '\0');
	for (i = 0; i < argc; i++) {
		fprintf(f, "%s%c", argv[i], '\0');
	}
	for (e = environ; *e; e++) {
		if (!strncmp(*e, "VT_", 3)) {
			fprintf(f, "%s%c", *e, '\0');
		}
	}
	return tkm_text_end(f, &text) == 0 ? text : NULL;
}

static void forget_own_variables(void)
{
	char name[256];
	size_t n;
	int i = 0;

	while (environ[i]) {
		n = strcspn(environ[i], "=");
		if (strncmp(environ[i], "VT_", 3) || n >= sizeof(name)) {
			i++;
			continue;
		}
		memcpy(name, environ[i], n);
		name[n] = '\0';
		unsetenv(name);
	}
}

/* Reads what rank 0 packed; the options point into text. Returns 0 or -1. */
static int take_settings(struct cal_test *t, char *text, size_t n, struct tkm_err *err)
{
	char **argv = NULL, *p = text, *end = text + n;
	int argc = atoi(text), i, rc;

	argv = argc > 0 && argc < MOST_SETTINGS ? calloc((size_t)argc + 1, sizeof(*argv)) : NULL;
	if (!argv) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the options of rank 0");
	}
	for (i = 0, p += strlen(p) + 1; i < argc && p < end; i++, p += strlen(p) + 1) {
		argv[i] = p;
	}
	if (i < argc) {
		free(argv);
		return tkm_fail(err, TKM_ERR_DATA, "the options of rank 0 are cut");
	}
	forget_own_variables();
	for (; p < end; p += strlen(p) + 1) {
		putenv(p);
	}
	rc = cal_test_options_parse(argc, argv, &t->o);
	free(argv);
	return rc == 0 ? 0 : tkm_fail(err, TKM_ERR_ARG, "rank 0 has options that this version does not know");
}

static int share_settings(struct cal_test *t, int argc, char **argv, struct tkm_err *err)
{
	char *text = NULL;
	size_t n = 0;
	int64_t size = 0;

	if (t->link->rank == 0) {
		text = pack_settings(argc, argv, &n);
		size = text && n < MOST_SETTINGS ? (int64_t)n : 0;
	}
	if (cal_link_bcast(t->link, &size, sizeof(size), err) < 0) {
		free(text);
		return -1;
	}
	if (size <= 0 || size >= MOST_SETTINGS) {
		free(text);
		return tkm_fail(err, TKM_ERR_DATA, "rank 0 cannot tell its options");
	}
	text = text ? text : malloc((size_t)size);
	if (!text) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the options of rank 0");
	}
	t->settings = text;
	if (cal_link_bcast(t->link, text, (size_t)size, err) < 0) {
		return -1;
	}
	if (t->link->rank == 0) {
		return 0;
	}
	return text[size - 1] ? tkm_fail(err, TKM_ERR_DATA, "the options of rank 0 are cut")
			      : take_settings(t, text, (size_t)size, err);
}

/* ---- meeting ---- */

static int read_word(const char *join, char *word, size_t size, struct tkm_err *err)
{
	if (strcmp(join, "-")) {
		snprintf(word, size, "%s", join);
		return strlen(join) < size ? 0 : tkm_fail(err, TKM_ERR_ARG, "--join: the contact word is too long");
	}
	if (!fgets(word, (int)size, stdin)) {
		return tkm_fail(err, TKM_ERR_ARG, "--join -: no contact word on standard input");
	}
	word[strcspn(word, "\n")] = '\0';
	return 0;
}

static int start_hosts(const struct cal_test_options *o, char *word, size_t size, struct tkm_err *err)
{
	int i;

	if (list_remotes(o->hosts, err) < 0 || get_word(o->interface, word, size, err) < 0) {
		return -1;
	}
	for (i = 0; i < remotes.n; i++) {
		if (start_remote(o, &remotes.at[i], word, i + 1, err) < 0) {
			return -1;
		}
	}
	return 0;
}

struct cal_link *cal_test_meet(struct cal_test *t, int argc, char **argv, struct tkm_err *err)
{
	char word[VT_CONTACT_WORD];
	struct vt_meeting_wish w = { .word = word, .interface = t->o.interface, .look = look_at_remotes };
	long long rank = t->o.rank, size = t->o.size;

	/* a node that vanishes is an error of a call, not the end of this process */
	signal(SIGPIPE, SIG_IGN);
	if ((t->o.hosts ? start_hosts(&t->o, word, sizeof(word), err) : read_word(t->o.join, word, sizeof(word), err)) <
		0) {
		return NULL;
	}
	if (t->o.hosts) {
		rank = 0;
		size = remotes.n + 1;
	} else {
		vt_contact_find_place(&rank, &size);
	}
	if (size < 1 || size > INT_MAX || rank >= size) {
		tkm_fail(err, TKM_ERR_ARG,
			"--join: how many processes are there? --size=N says it (and --rank=R which one this is), or "
			"the variables of torchrun, Slurm or PMI");
		return NULL;
	}
	w.rank = (int)rank;
	w.size = (int)size;
	t->link = vt_meet(&w, err);
	if (t->link && share_settings(t, argc, argv, err) < 0) {
		cal_link_close(t->link);
		t->link = NULL;
	}
	return t->link;
}
