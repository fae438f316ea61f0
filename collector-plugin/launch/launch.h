/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of vtrun share. */
#ifndef COLLECTOR_PLUGIN_LAUNCH_LAUNCH_H
#define COLLECTOR_PLUGIN_LAUNCH_LAUNCH_H

#include <stddef.h>

#include "base/err.h"
#include "collector-plugin/settings/settings.h"

struct vtrun {
	struct vt_settings settings;
	int list, estimate, apptainer, doctor; /* what to do instead of running */
	int check_mpi;                         /* --check-mpi */
	const char *config;                    /* --config */
	const char *duration;                  /* --estimate: the length of the run; "": 1 hour */
	double duration_s;
	char **program;       /* the program and its arguments; NULL: none given */
	char commanded[2048]; /* options of the command line, separated by commas */
	char set[4096];       /* and their variables */
	char library[1024];   /* libVTcs.so, absolute */
	char found[1024];     /* the name by which vtrun finds it, perhaps a link */
	char job[64];         /* processes of one launcher are one job */
	int contact;          /* --contact, */
	const char *place;    /* and where it listens: "[INTERFACE][:LOW-HIGH]" */
	const char *join;     /* the contact word of a job; NULL: none */
	long long rank, size; /* --rank, --size; -1, 0: not given */
	int joined_ranks;     /* the job's number of ranks as far as it is known; 0: it is not */
};

/* say.c: prints "vtrun: line" on standard error. */
void vt_launch_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* options.c: reads the command line. Options of the collector become variables, which the library inside the program
 * reads. Returns 0, 1 if help or the version was printed, or -1 if the usage was wrong, which was reported. */
int vt_launch_parse(struct vtrun *r, int argc, char **argv);

/* uses_mpi.c: does the program use MPI? 1 or 0; -1: it does, but the library for it is missing or was made for another
 * MPI; *err has the reason. 1 replaces the file name in `library`, libVTcs.so, by that of the library for its MPI. */
int vt_launch_uses_mpi(const char *path, int children, char *library, size_t size, struct tkm_err *err);

/* check.c: is what the command line names there? Folders are made. Returns 0, or -1, which was reported. */
int vt_launch_check(struct vtrun *r);

/* show.c: the counters that a run would record. NULL with the reason in *err. */
struct smp_plan *vt_launch_plan(struct vtrun *r, struct tkm_err *err);

/* show.c: --list and --estimate. Both return an exit status. */
int vt_launch_list(struct vtrun *r);
int vt_launch_estimate(struct vtrun *r);

/* join.c: --contact: becomes VTserver, which prints the word. Returns an exit status if it cannot. */
int vt_launch_contact(struct vtrun *r);
/* join.c: joins the job of r->join: r->job becomes its name on this node, r->rank the rank of this process. Returns 0, or -1: it
 * cannot, which was reported, and the program runs in a job of its own. */
int vt_launch_join(struct vtrun *r);

/* doctor.c: --doctor; `library` is known. Returns an exit status. */
int vt_launch_doctor(struct vtrun *r);

#endif
