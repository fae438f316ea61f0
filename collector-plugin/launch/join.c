/* SPDX-License-Identifier: BSD-3-Clause */
/* vtrun --contact and vtrun --join: jobs of processes on several nodes that have no MPI. The sampler process of this node, which is
 * that of all processes that join by the same word, speaks with the job's VTserver. */
#include "config.h"
#include "collector-plugin/launch/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector-plugin/attach/attach.h"
#include "collector-plugin/host/program/near.h"
#include "collector-plugin/net/contact.h"
#include "collector-plugin/settings/run_value.h"

/* Only VTserver CONTACT..., which this process was before, has clients that wait. */
static void forget_clients_of_others(void)
{
	const char *server = secure_getenv("TICKMARK_SERVER");

	if (!server || atoi(server) != (int)getpid()) {
		unsetenv("TICKMARK_CLIENTS");
	}
	unsetenv("TICKMARK_SERVER");
}

/* A trace that cannot be made there would be missed only when the job has ended. */
static int can_hold_trace(const struct vtrun *r)
{
	const struct vt_settings *s = &r->settings;
	const char *start = s->current_dir ? s->current_dir : ".", *prefix = s->logfile_prefix ? s->logfile_prefix : "";
	char folder[PATH_MAX];

	if (s->logfile_name && strchr(s->logfile_name, '/')) {
		return 1; /* its folder was made if it was missing */
	}
	snprintf(folder, sizeof(folder), "%s%s%s", *prefix == '/' ? "" : start, *prefix && *prefix != '/' ? "/" : "",
		prefix);
	if (access(folder, W_OK | X_OK) < 0) {
		vt_launch_say(
			"--contact: no trace can be made in the folder %s: %s; --logfile-prefix names another one",
			folder, strerror(errno));
		return 0;
	}
	return 1;
}

int vt_launch_contact(struct vtrun *r)
{
	static const char *const places[] = { VT_NEAR_SERVER, NULL };
	char path[PATH_MAX], own[1024];
	char *argv[4] = { path, (char *)(uintptr_t) "--network", (char *)(uintptr_t)r->place, NULL };

	if (r->program) {
		vt_launch_say("--contact runs no program: it prints a word, with which vtrun --join runs them");
		return 2;
	}
	if (vt_find_installed_program(
		    vt_own_program(own, sizeof(own)), places, LIBDIR "/../bin/VTserver", path, sizeof(path)) < 0) {
		vt_launch_say("--contact: there is no program VTserver beside vtrun");
		return 1;
	}
	if (!can_hold_trace(r)) {
		return 2;
	}
	forget_clients_of_others();
	execv(path, argv);
	vt_launch_say("cannot run %s: %s", path, strerror(errno));
	return 1;
}

/* ---- joining ---- */

int vt_launch_join(struct vtrun *r)
{
	const char *slash = strrchr(r->program[0], '/');
	struct vt_attach_request request = { .job = r->job,
		.near = r->library,
		.word = r->join,
		.program = slash ? slash + 1 : r->program[0],
		.limit_s = 30 };
	struct vt_contact contact;
	struct tkm_err err;
	struct vt_attach_place place;

	if (vt_contact_read(r->join, &contact, &err) == 0) {
		vt_word_job(r->join, r->job, sizeof(r->job));
		vt_contact_find_place(&r->rank, &r->size);
		request.rank = (int)r->rank;
		request.size = (int)r->size;
		if (vt_attach_join(&request, &place, &err) == 0) {
			r->rank = place.rank;
			r->joined_ranks = place.ranks;
			/* children of the program are not of the job */
			unsetenv("TICKMARK_CONTACT");
			return 0;
		}
	}
	vt_launch_say("cannot join: %s. The program runs, and this process gets a trace of its own", err.text);
	return -1;
}
