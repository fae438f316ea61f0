/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts VTserver, and lets the sampler process of an MPI rank join the network. */
#include "config.h"
#include "collector-plugin/run/network.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector-plugin/attach/attach.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/run/program.h"

static const double limit_s = 20;

int vt_network_start(
	const char *const *arguments, const char *const *variables, char word[VT_NETWORK_WORD], struct tkm_err *err)
{
	char text[2000] = "", *end;
	int status = vt_program_run("VTserver", arguments, variables, text, sizeof(text));

	end = strchr(text, '\n');
	if (status != 0 || !end || end == text || end - text >= VT_NETWORK_WORD) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "%.*s", text[0] ? (int)strcspn(text, "\n") : 100,
			text[0] ? text : strerror(errno));
	}
	snprintf(word, VT_NETWORK_WORD, "%.*s", (int)(end - text), text);
	return 0;
}

int vt_network_start_for_mpi(int ranks, int shared, char word[VT_NETWORK_WORD], struct tkm_err *err)
{
	const struct vt_collector *c = &vt_collector;
	char size[16], folder[sizeof(c->raw_path)];
	const char *arguments[] = { "--network", "", size, c->job, c->trace, shared ? folder : NULL, NULL };

	if (!c->has_vtsampler) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "rank 0 has no sampler process");
	}
	snprintf(size, sizeof(size), "%d", ranks);
	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(c->raw_path, '/') + 1 - c->raw_path), c->raw_path);
	return vt_network_start(arguments, (const char *const *)(const void *)c->variables, word, err);
}

int vt_network_join_mpi(const char *word, int rank, int ranks, int shared, struct tkm_err *err)
{
	const struct vt_collector *c = &vt_collector;
	struct vt_attach_place place;
	Dl_info info;
	struct vt_attach_request r = { .job = c->job,
		.near = dladdr((void *)&vt_network_join_mpi, &info) ? info.dli_fname : NULL,
		.word = word,
		.program = c->program,
		.rank = rank,
		.size = ranks,
		.mpi = 1,
		.shared = shared,
		.limit_s = limit_s };

	return c->has_vtsampler ? vt_attach_join(&r, &place, err)
				: tkm_fail(err, TKM_ERR_UNAVAIL, "rank %d has no sampler process", rank);
}
