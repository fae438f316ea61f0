/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of a server and clients without MPI (Intel Trace Collector guide, sections 2.14 and 3.1.10). The server starts a VTserver,
 * whose contact word the program takes to the clients. VT_initialize() joins the job by that word, as vtrun --join does. */
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

enum { WORD = 1200, MOST_CLIENTS = 1 << 16, MOST_SETTINGS = 15 };

/* Time for VTserver, which may be on another node, to answer. */
static const double join_limit_s = 30;

/* What VT_initialize() is to join; of one thread, but for the two flags. */
static struct {
	char word[WORD]; /* "": nothing */
	int rank, size;
	_Atomic int waits, stop;
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
	if (vt_collect_running() || job.word[0]) {
		return refuse_call(
			VT_ERR_BADREQUEST, "%s must come once, before VT_initialize and without vtrun", call);
	}
	return VT_OK;
}

/* The options in the environment go to VTserver as arguments, since programs that are started here do not get them. Returns -1 if
 * there are too many. */
static int add_settings(const char **arguments, int n)
{
	int i;

	for (i = 0; environ && environ[i]; i++) {
		if (!strncmp(environ[i], "VT_", 3)) {
			if (n == MOST_SETTINGS) {
				return -1;
			}
			arguments[n++] = environ[i];
		}
	}
	arguments[n] = NULL;
	return 0;
}

VT_ErrorCode VT_serverinit(const char *servername, int numcontacts, const char *contacts[], const char **contact)
{
	const char *arguments[MOST_SETTINGS + 1] = { "", "" };
	char size[16], text[WORD] = "", *end;
	VT_ErrorCode rc = check_before_start("VT_serverinit");
	int status;

	(void)servername;
	if (rc != VT_OK) {
		return rc;
	}
	if (!contact || *contact || numcontacts < 0 || numcontacts > MOST_CLIENTS) {
		return refuse_call(VT_ERR_BADARG, "VT_serverinit: *contact must be NULL, and 0 to %d clients can come",
			(int)MOST_CLIENTS);
	}
	if (contacts && numcontacts > 0) {
		return refuse_call(VT_ERR_NOTIMPLEMENTED,
			"VT_serverinit: the server cannot connect to clients that were started before it; give NULL for "
			"contacts, and pass the server's contact with an S before it to VT_clientinit");
	}
	snprintf(size, sizeof(size), "%d", numcontacts + 1);
	arguments[1] = size;
	if (add_settings(arguments, 2) < 0) {
		return refuse_call(VT_ERR_BADARG,
			"VT_serverinit: more than %d variables VT_...: put the options into a file, and its name into "
			"VT_CONFIG",
			MOST_SETTINGS - 2);
	}
	status = vt_program_run("VTserver", arguments, text, sizeof(text));
	end = strchr(text, '\n');
	if (status != 0 || !end || end == text) {
		return refuse_call(VT_ERR_COMM, "VT_serverinit: %.*s", text[0] ? (int)strcspn(text, "\n") : 100,
			text[0] ? text : strerror(errno));
	}
	*end = '\0';
	memcpy(job.word, text, sizeof(job.word));
	job.rank = 0;
	job.size = numcontacts + 1;
	*contact = job.word;
	return VT_OK;
}

VT_ErrorCode VT_clientinit(int procid, const char *clientname, const char **contact)
{
	VT_ErrorCode rc = check_before_start("VT_clientinit");

	(void)clientname;
	if (rc != VT_OK) {
		return rc;
	}
	if (!contact || procid < 0 || procid > MOST_CLIENTS) {
		return refuse_call(VT_ERR_BADARG, "VT_clientinit: contact must not be NULL, and procid from 0 to %d",
			(int)MOST_CLIENTS);
	}
	if (!*contact || **contact != 'S' || strlen(*contact) > sizeof(job.word)) {
		return refuse_call(VT_ERR_NOTIMPLEMENTED,
			"VT_clientinit: a client joins the job of a server that was started before it: *contact must be S "
			"and the server's contact, or S and the word of vtrun --contact");
	}
	snprintf(job.word, sizeof(job.word), "%s", *contact + 1);
	job.rank = procid;
	return VT_OK;
}

VT_ErrorCode vt_join_job(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;
	struct vt_attach_request request = { .word = job.word,
		.program = slash ? slash + 1
			: argv0  ? argv0
				 : "program",
		.rank = job.rank,
		.size = job.size,
		.limit_s = join_limit_s,
		.stop = &job.stop };
	char name[64];
	struct tkm_err err;
	int32_t place[2];
	Dl_info info;
	int rc;

	if (!job.word[0] || vt_collect_running()) {
		return VT_OK;
	}
	vt_word_job(job.word, name, sizeof(name));
	request.job = name;
	request.near = dladdr((void *)&vt_join_job, &info) ? info.dli_fname : NULL;
	job.stop = 0;
	job.waits = 1;
	rc = vt_attach_join(&request, place, &err);
	job.waits = 0;
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
	if (!job.waits) {
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
