/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the variable by which vtrun passes information to the library, and what the launcher of an MPI job says. */
#include "config.h"
#include "collector-plugin/settings/run_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/rootfs.h"

const char *vt_run_value(const char *text, const char *key, char *buf, size_t size)
{
	size_t n = strlen(key), len;

	while (text && *text) {
		len = strcspn(text, "\t");
		if (!strncmp(text, key, n) && text[n] == '=') {
			snprintf(buf, size, "%.*s", (int)(len - n - 1), text + n + 1);
			return buf;
		}
		text += len + (text[len] == '\t');
	}
	return NULL;
}

int vt_run_child(const char *text, int of)
{
	char pid[16];

	return strstr(text, "\ttrace=") && vt_run_value(text, "pid", pid, sizeof(pid)) && atoi(pid) != of;
}

int vt_launcher_rank(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
		"SLURM_PROCID", NULL };
	const char *text;
	char *end;
	long v;
	int i;

	for (i = 0; names[i]; i++) {
		text = secure_getenv(names[i]);
		v = text && *text ? strtol(text, &end, 10) : -1;
		if (v >= 0 && v < 1 << 30 && !*end) {
			return (int)v;
		}
	}
	return -1;
}

/* The port at which the launcher of Open MPI 5 and later serves this host, from "prterun-node0-7@0.0;tcp4://10.0.0.1:51757".
 * NULL: another launcher, or a job of several hosts, each of which has a port of its own. */
static const char *server_port(void)
{
	static const char *const names[] = { "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI2", NULL };
	const char *here = secure_getenv("OMPI_COMM_WORLD_LOCAL_SIZE"), *all = secure_getenv("OMPI_COMM_WORLD_SIZE"),
		   *uri = NULL;
	int i;

	for (i = 0; names[i] && !uri; i++) {
		uri = secure_getenv(names[i]);
	}
	uri = uri && here && all && !strcmp(here, all) && !strncmp(uri, "prte", 4) ? strrchr(uri, ':') : NULL;
	return uri ? uri + 1 : NULL;
}

/* A launcher uses names again: mpirun makes them of its pid, which is always the same in a container, and Slurm keeps
 * that of a job which it starts again, and for all its steps. Therefore Open MPI's random number of a launch, or Slurm's
 * numbers of step and restart, follow the name. They are the same for all ranks, and known before MPI_Init. */
static void name_launch(const char *name, char *job, size_t size)
{
	const char *launch = secure_getenv("OMPI_MCA_orte_precondition_transports"), *again = NULL,
		   *batch = secure_getenv("SLURM_JOB_ID");
	size_t most = 46, n = strlen(name);

	launch = launch ? launch : server_port();
	if (!launch && batch && (!strcmp(name, batch) || !strncmp(name, "slurm.", 6))) {
		launch = secure_getenv("SLURM_STEP_ID");
		again = secure_getenv("SLURM_RESTART_COUNT");
	}
	/* a long name ends with what tells it from others */
	snprintf(job, size, "%s%s%.16s%s%s", name + (n > most ? n - most : 0), launch ? "." : "", launch ? launch : "",
		again ? "." : "", again ? again : "");
}

void vt_job_name(int batch, char *job, size_t size)
{
	/* the name of one mpirun comes before that of a batch job, which may start many */
	static const char *const names[] = { "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", NULL,
		"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID" };
	const char *value;
	struct timespec ts;
	int i;

	for (i = 0; i < (batch ? 7 : 4); i++) {
		value = names[i] ? secure_getenv(names[i]) : NULL;
		if (value) {
			name_launch(value, job, size);
			return;
		}
		if (!names[i] && vt_proxy_job && vt_proxy_job(job, size) == 0) {
			return;
		}
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	snprintf(job, size, "%d-%lld%09ld", (int)getpid(), (long long)ts.tv_sec, ts.tv_nsec);
}

void vt_word_job(const char *word, char *job, size_t size)
{
	snprintf(job, size, "net.%016llx", (unsigned long long)tkm_fnv(TKM_FNV_START, word, strlen(word)));
}
