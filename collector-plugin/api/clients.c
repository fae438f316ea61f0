/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of a server and clients without MPI (Intel Trace Collector guide, sections 2.14 and 3.1.10). The server starts a VTserver,
 * whose contact word the program takes to the clients; or clients that were started first wait for it. VT_initialize() joins the
 * job by that word, as vtrun --join does. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "include/VT.h"
#include "base/fnv.h"
#include "collector-plugin/api/private.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/run/network.h"
#include "collector-plugin/run/run.h"
#include "collector-plugin/settings/run_value.h"
#include "collector-plugin/trace/world.h"

enum { WORD = VT_NETWORK_WORD, MOST_CLIENTS = 1 << 16, MOST_SETTINGS = 1000 };

/* Time for VTserver, which may be on another node, to answer. */
static const double join_limit_s = 30;

/* What VT_initialize() is to join; of one thread, but for the two flags. */
static struct {
	pid_t pid; /* of the process that has called VT_serverinit() or VT_clientinit(): not of its children */
	/* of the job, "": not known; of this process, for those that it starts; of the client whose server is to tell the word */
	char word[WORD], own[WORD], waiting[WORD];
	char name[64];    /* for error messages */
	char network[64]; /* the job that it has joined */
	int rank, size;
	uint64_t parent; /* of a process that another one has started: what that is known by */
	int pending;     /* VT_initialize() is to join */
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
	if (vt_collect_running() || (job.pid == getpid() && job.pending)) {
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
	struct tkm_err err;
	int i, n = 0;

	for (i = 0; environ && environ[i] && n < MOST_SETTINGS; i++) {
		if (!strncmp(environ[i], "VT_", 3)) {
			variables[n++] = environ[i];
		}
	}
	if (clients) {
		variables[n++] = clients;
	}
	variables[n] = NULL;
	if (vt_network_start(arguments, variables, contact, &err) < 0) {
		return refuse_call(VT_ERR_COMM, "%s: %s", call, err.text);
	}
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
		if (strlen(clients) >= VT_ATTACH_MOST_CONTACTS) {
			rc = refuse_call(VT_ERR_BADARG,
				"VT_serverinit: %d contacts take %zu bytes, and " VT_ATTACH_FEWER, numcontacts,
				strlen(clients), (int)VT_ATTACH_MOST_CONTACTS);
			free(clients);
			return rc;
		}
	}
	begin_job(servername, 0, numcontacts + 1);
	snprintf(size, sizeof(size), "%d", job.size);
	arguments[2] = size;
	rc = start_server("VT_serverinit", arguments, clients, job.word);
	free(clients);
	if (rc == VT_OK) {
		job.pending = 1;
		memcpy(job.own, job.word, sizeof(job.own));
		*contact = job.own;
	}
	return rc;
}

/* Starts the process that waits for the server, since this one opens no socket. */
static VT_ErrorCode wait_for_server(void)
{
	const char *arguments[3] = { "--client" };
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	arguments[1] = pid;
	return start_server("VT_clientinit", arguments, NULL, job.own);
}

/* The word of the job is the beginning of the contact; if the process that gave it waits for its server, that is to be asked. */
static VT_ErrorCode use_contact(const char *contact)
{
	const char *mark = strchr(contact, *VT_CONTACT_CLIENT);
	int waits = mark && !strncmp(mark, VT_CONTACT_WAITS, 2) && (mark[2] == '\0' || mark[2] == '/');
	unsigned char random[8];
	size_t i, n;

	snprintf(waits ? job.waiting : job.word, WORD, "%.*s",
		(int)(!mark             ? strlen(contact)
				: waits ? (size_t)(mark - contact) + 2
					: (size_t)(mark - contact)),
		contact);
	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		return VT_ERR_COMM;
	}
	n = (size_t)snprintf(job.own, sizeof(job.own), "%s" VT_CONTACT_CLIENT, waits ? job.waiting : job.word);
	for (i = 0; i < sizeof(random) && n < sizeof(job.own); i++) {
		n += (size_t)snprintf(job.own + n, sizeof(job.own) - n, "%02x", random[i]);
	}
	return VT_OK;
}

VT_ErrorCode VT_clientinit(int procid, const char *clientname, const char **contact)
{
	VT_ErrorCode rc = check_before_start("VT_clientinit");
	int spawned = contact && *contact && **contact != 'S';
	char given[WORD] = "";

	if (rc != VT_OK) {
		return rc;
	}
	if (!contact || procid < 0 || procid > MOST_CLIENTS || (*contact && strlen(*contact) > sizeof(given) - 20)) {
		return refuse_call(VT_ERR_BADARG,
			"VT_clientinit: contact must not be NULL, *contact a word of VT_serverinit or VT_clientinit, and procid "
			"from 0 to %d",
			(int)MOST_CLIENTS);
	}
	/* it may be that of the parent, in memory of which this is a copy */
	snprintf(given, sizeof(given), "%s", *contact ? *contact + !spawned : "");
	begin_job(clientname, procid, 0);
	job.parent = spawned ? tkm_fnv(TKM_FNV_START, given, strlen(given)) : 0;
	rc = *given ? use_contact(given) : wait_for_server();
	if (rc == VT_OK) {
		job.pending = 1;
		if (!*given) {
			memcpy(job.waiting, job.own, sizeof(job.waiting));
		}
		*contact = job.own;
	}
	return rc;
}

/* Asks the process that waits for the server. */
static VT_ErrorCode learn_word(struct vt_attach_request *request)
{
	double limit_s = request->limit_s;
	struct tkm_err err;
	char name[64];
	int rc;

	vt_word_job(job.waiting, name, sizeof(name));
	request->job = name;
	request->limit_s = 0;
	rc = vt_attach_ask_word(request, job.word, sizeof(job.word), &err);
	request->limit_s = limit_s;
	return rc == 0 ? VT_OK
		       : refuse_call(VT_ERR_COMM, "VT_initialize: client %d%s%s is in no job: %s", job.rank,
				 job.name[0] ? ", " : "", job.name, err.text);
}

static void prepare_request(struct vt_attach_request *r)
{
	Dl_info info;

	r->job = job.network;
	r->word = job.word;
	r->near = dladdr((void *)&vt_join_job, &info) ? info.dli_fname : NULL;
	r->stop = &job.stop;
	job.stop = 0;
}

static VT_ErrorCode join_job(struct vt_attach_request *request)
{
	struct vt_attach_place place;
	struct tkm_err err;
	VT_ErrorCode rc;

	if (job.waiting[0] && !job.word[0]) {
		rc = learn_word(request);
		if (rc != VT_OK) {
			return rc;
		}
	}
	vt_word_job(job.word, job.network, sizeof(job.network));
	request->job = job.network;
	if (vt_attach_join(request, &place, &err) < 0) {
		return refuse_call(VT_ERR_COMM, "VT_initialize cannot join the %s as process %d: %s",
			job.parent ? "processes of its parent" : "server's job", job.rank, err.text);
	}
	vt_collect_join(job.network, place.rank, job.parent ? 0 : place.ranks);
	vt_world_join(job.parent ? place.first : 0, job.parent ? place.ranks : 0, place.parent);
	return VT_OK;
}

VT_ErrorCode vt_join_job(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;
	struct vt_attach_request request = { .program = slash ? slash + 1
			: argv0                               ? argv0
							      : "program",
		.rank = job.rank,
		.size = job.size,
		.token = tkm_fnv(TKM_FNV_START, job.own, strlen(job.own)),
		.parent = job.parent,
		/* VTserver limits the wait for the others */
		.limit_s = job.parent ? 0 : join_limit_s };
	VT_ErrorCode rc;

	if (vt_collect_running()) {
		return VT_OK;
	}
	if (job.pid != getpid() || !job.pending) {
		vt_world_join(0, 0, -1);
		return VT_OK;
	}
	prepare_request(&request);
	job.in_wait = 1;
	rc = join_job(&request);
	job.in_wait = 0;
	job.pending = rc != VT_OK;
	return rc;
}

VT_ErrorCode VT_abort(void)
{
	if (!job.in_wait) {
		return VT_ERR_BADREQUEST;
	}
	job.stop = 1;
	return VT_OK;
}

/* Waits for the children; in_wait is set. Returns 0 or -1. */
static int wait_for_children(int n, struct vt_attach_place *place, struct tkm_err *err)
{
	struct vt_attach_request request = { .program = "", .rank = -1, .children = n };
	int rc;

	prepare_request(&request);
	vt_inside_begin();
	rc = vt_attach_join(&request, place, err);
	job.in_wait = 0;
	vt_inside_end();
	return rc;
}

VT_ErrorCode VT_attach(int root, int comm, int numchildren, int *childcomm)
{
	struct vt_attach_place place;
	struct tkm_err err;
	VT_ErrorCode rc;
	int i;

	if (childcomm) {
		*childcomm = VT_COMM_INVALID;
	}
	if (vt_hooks.initialize) {
		return refuse_call(VT_ERR_NOTIMPLEMENTED, "VT_attach is for programs without MPI: link with libVTcs");
	}
	if (comm == VT_COMM_WORLD) {
		return refuse_call(VT_ERR_NOTIMPLEMENTED,
			"VT_attach: VT_COMM_WORLD is not implemented; each process can attach its own children with "
			"VT_COMM_SELF");
	}
	rc = vt_self();
	if (rc != VT_OK) {
		return rc;
	}
	if (!childcomm || comm != VT_COMM_SELF || root != 0 || numchildren < 1 || numchildren > MOST_CLIENTS) {
		return VT_ERR_BADARG;
	}
	if (job.pid != getpid() || !job.network[0]) {
		return refuse_call(VT_ERR_BADREQUEST,
			"VT_attach: this process has not joined a job by VT_serverinit or VT_clientinit");
	}
	if (atomic_exchange(&job.in_wait, 1)) {
		return refuse_call(VT_ERR_BADREQUEST, "VT_attach: another thread waits in it");
	}
	if (wait_for_children(numchildren, &place, &err) < 0) {
		return refuse_call(VT_ERR_COMM, "VT_attach: %s", err.text);
	}
	i = vt_world_attach(place.rank, place.first, place.ranks);
	if (i < 0) {
		return refuse_call(VT_ERR_NOMEMORY, "VT_attach: more than %d calls in one process", (int)VT_WORLD_MOST);
	}
	*childcomm = VT_COMM_SELF + 1 + i;
	return VT_OK;
}

VT_ErrorCode VT_get_parent(int *parentcomm)
{
	if (parentcomm) {
		*parentcomm = vt_world_has_parent() ? VT_COMM_SELF + 1 : VT_COMM_INVALID;
	}
	return vt_self();
}
