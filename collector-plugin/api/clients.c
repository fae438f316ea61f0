/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of a server and clients without MPI (Intel Trace Collector guide, sections 2.14 and 3.1.10). The server starts a VTserver,
 * whose contact word the program takes to the clients; or clients that were started first wait for it. VT_initialize() joins the
 * job by that word, as vtrun --join does. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/VT.h"
#include "collector-plugin/api/private.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/run/program.h"
#include "collector-plugin/run/run.h"
#include "collector-plugin/settings/run_value.h"

enum { WORD = 1208, MOST_CLIENTS = 1 << 16, MOST_SETTINGS = 1000 };

/* Time for VTserver, which may be on another node, to answer. */
static const double join_limit_s = 30;

/* What VT_initialize() is to join; of one thread, but for the two flags. */
static struct {
	pid_t pid;       /* of the process that has called VT_serverinit() or VT_clientinit(): not of its children */
	char word[WORD]; /* of the job; "": nothing to join, or not known yet */
	char own[WORD];  /* the contact of this process */
	char name[64];   /* for error messages */
	int rank, size;
	int waits; /* the server is to tell the word */
	_Atomic int in_wait, stop;
} job;

extern char **environ;

/* One line, although the options are not known yet. */
__attribute__((format(printf, 2, 3))) static VT_ErrorCode refuse_call(VT_ErrorCode rc, const char *fmt, ...)
{
	static const long long verbose = 1;
	static const int no_rank = -1;
	char text[700];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!vt_collect_running()) {
		vt_say_setup(&verbose, &no_rank);
	}
	vt_say(1, "ERROR", "%s", text);
	return rc;
}

static VT_ErrorCode check_before_start(const char *call)
{
	if (vt_hooks.initialize) {
		return refuse_call(VT_ERR_NOTIMPLEMENTED, "%s is for programs without MPI: link with libVTcs", call);
	}
	if (vt_collect_running() || (job.pid == getpid() && (job.word[0] || job.waits))) {
		return refuse_call(
			VT_ERR_BADREQUEST, "%s must come once, before VT_initialize and without vtrun", call);
	}
	return VT_OK;
}

/* Runs VTserver, which prints a contact, continues in the background, and gets the options in the environment. Returns VT_OK and the
 * contact, or VT_ERR_COMM. */
static VT_ErrorCode start_server(
	const char *call, const char *const *arguments, const char *clients, char contact[WORD])
{
	const char *variables[MOST_SETTINGS + 2];
	char text[2000] = "", *end;
	int i, n = 0, status;

	for (i = 0; environ && environ[i] && n < MOST_SETTINGS; i++) {
		if (!strncmp(environ[i], "VT_", 3)) {
			variables[n++] = environ[i];
		}
	}
	if (clients) {
		variables[n++] = clients;
	}
	variables[n] = NULL;
	status = vt_program_run("VTserver", arguments, variables, text, sizeof(text));
	end = strchr(text, '\n');
	if (status != 0 || !end || end == text || end - text >= WORD) {
		return refuse_call(VT_ERR_COMM, "%s: %.*s", call, text[0] ? (int)strcspn(text, "\n") : 100,
			text[0] ? text : strerror(errno));
	}
	snprintf(contact, WORD, "%.*s", (int)(end - text), text);
	return VT_OK;
}

/* This process is another one than before, or in another job. */
static void begin_job(const char *name, int rank, int size)
{
	memset(&job, 0, sizeof(job));
	job.pid = getpid();
	snprintf(job.name, sizeof(job.name), "%s", name ? name : "");
	job.rank = rank;
	job.size = size;
}

/* The contacts in one variable, which only this user can read. NULL: no memory, or one is missing. */
static char *join_contacts(int n, const char *const *contacts)
{
	size_t size = sizeof("TICKMARK_CLIENTS="), at;
	char *text;
	int i;

	for (i = 0; i < n && contacts[i]; i++) {
		size += strlen(contacts[i]) + 1;
	}
	text = i == n ? malloc(size) : NULL;
	at = text ? (size_t)sprintf(text, "TICKMARK_CLIENTS=") : 0;
	for (i = 0; text && i < n; i++) {
		at += (size_t)sprintf(text + at, "%s%s", i ? " " : "", contacts[i]);
	}
	return text;
}

VT_ErrorCode VT_serverinit(const char *servername, int numcontacts, const char *contacts[], const char **contact)
{
	const char *arguments[4] = { "--network", "" };
	char size[16], *clients = NULL;
	VT_ErrorCode rc = check_before_start("VT_serverinit");

	if (rc != VT_OK) {
		return rc;
	}
	if (!contact || *contact || numcontacts < 0 || numcontacts > MOST_CLIENTS) {
		return refuse_call(VT_ERR_BADARG, "VT_serverinit: *contact must be NULL, and 0 to %d clients can come",
			(int)MOST_CLIENTS);
	}
	if (contacts && numcontacts > 0) {
		clients = join_contacts(numcontacts, contacts);
		if (!clients) {
			return refuse_call(VT_ERR_BADARG, "VT_serverinit: one of %d contacts is NULL", numcontacts);
		}
	}
	begin_job(servername, 0, numcontacts + 1);
	snprintf(size, sizeof(size), "%d", job.size);
	arguments[2] = size;
	rc = start_server("VT_serverinit", arguments, clients, job.word);
	free(clients);
	if (rc == VT_OK) {
		memcpy(job.own, job.word, sizeof(job.own));
		*contact = job.own;
	}
	return rc;
}

/* Starts the process that waits for the server, since this one opens no socket. */
static VT_ErrorCode wait_for_server(const char **contact)
{
	const char *arguments[3] = { "--client" };
	char pid[16];
	VT_ErrorCode rc;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	arguments[1] = pid;
	rc = start_server("VT_clientinit", arguments, NULL, job.own);
	if (rc == VT_OK) {
		job.waits = 1;
		*contact = job.own;
	}
	return rc;
}

VT_ErrorCode VT_clientinit(int procid, const char *clientname, const char **contact)
{
	VT_ErrorCode rc = check_before_start("VT_clientinit");

	if (rc != VT_OK) {
		return rc;
	}
	if (!contact || procid < 0 || procid > MOST_CLIENTS) {
		return refuse_call(VT_ERR_BADARG, "VT_clientinit: contact must not be NULL, and procid from 0 to %d",
			(int)MOST_CLIENTS);
	}
	if (*contact && (**contact != 'S' || strlen(*contact) > sizeof(job.word))) {
		return refuse_call(VT_ERR_NOTIMPLEMENTED,
			"VT_clientinit: a client joins the job of a server that was started before it: *contact must be S "
			"and the server's contact, or S and the word of vtrun --contact");
	}
	begin_job(clientname, procid, 0);
	if (!*contact) {
		return wait_for_server(contact);
	}
	snprintf(job.word, sizeof(job.word), "%s", *contact + 1);
	return VT_OK;
}

/* Asks the process that waits for the server. */
static VT_ErrorCode learn_word(struct vt_attach_request *request, char *name, size_t size)
{
	struct tkm_err err;
	double limit_s = request->limit_s;
	int rc;

	vt_word_job(job.own, name, size);
	request->limit_s = 0;
	rc = vt_attach_ask_word(request, job.word, sizeof(job.word), &err);
	request->limit_s = limit_s;
	job.waits = rc < 0;
	return rc == 0 ? VT_OK
		       : refuse_call(VT_ERR_COMM, "VT_initialize: client %d%s%s is in no job: %s", job.rank,
				 job.name[0] ? ", " : "", job.name, err.text);
}

VT_ErrorCode vt_join_job(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;
	struct vt_attach_request request = { .program = slash ? slash + 1
			: argv0                               ? argv0
							      : "program",
		.rank = job.rank,
		.size = job.size,
		.limit_s = join_limit_s,
		.stop = &job.stop };
	char name[64];
	struct tkm_err err;
	int32_t place[2];
	VT_ErrorCode answer = VT_OK;
	Dl_info info;
	int rc = -1;

	if (job.pid != getpid() || (!job.word[0] && !job.waits) || vt_collect_running()) {
		return VT_OK;
	}
	request.job = name;
	request.near = dladdr((void *)&vt_join_job, &info) ? info.dli_fname : NULL;
	job.stop = 0;
	job.in_wait = 1;
	if (job.waits) {
		answer = learn_word(&request, name, sizeof(name));
	}
	if (answer == VT_OK) {
		vt_word_job(job.word, name, sizeof(name));
		request.word = job.word;
		rc = vt_attach_join(&request, place, &err);
	}
	job.in_wait = 0;
	if (answer != VT_OK) {
		return answer;
	}
	if (rc < 0) {
		return refuse_call(VT_ERR_COMM, "VT_initialize cannot join the server's job as process %d: %s",
			job.rank, err.text);
	}
	vt_collect_join(name, place[0], place[1]);
	job.word[0] = '\0';
	return VT_OK;
}

VT_ErrorCode VT_abort(void)
{
	if (!job.in_wait) {
		return VT_ERR_BADREQUEST;
	}
	job.stop = 1;
	return VT_OK;
}

VT_ErrorCode VT_attach(int root, int comm, int numchildren, int *childcomm)
{
	(void)root;
	(void)comm;
	(void)numchildren;
	if (childcomm) {
		*childcomm = VT_COMM_INVALID;
	}
	return refuse_call(VT_ERR_NOTIMPLEMENTED,
		"VT_attach: processes that a process starts cannot be attached; each can "
		"join the job by VT_clientinit with the server's contact");
}

VT_ErrorCode VT_get_parent(int *parentcomm)
{
	/* VT_attach() has connected no process */
	if (parentcomm) {
		*parentcomm = VT_COMM_INVALID;
	}
	return vt_self();
}
