/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks of its job this node has, and whether other nodes have some. The nodes speak over the network (network.h). */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <stdlib.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

static struct {
	int ranks, here;      /* of the job; of them seen on this host */
	int local;            /* ranks on this host according to MPI, before MPI_Init to the launcher; 0: unknown */
	unsigned char *known; /* ranks that have been here */
} hosts;

void vt_hosts_add_process(const struct vt_measured *p)
{
	const struct vt_raw_head *h = p->ended ? NULL : vt_raw_head(p->c.pub.raw);

	if (!h || h->rank < 0 || h->rank >= h->ranks || h->ranks > 1 << 20) {
		return;
	}
	if (!hosts.known) {
		hosts.known = calloc((size_t)h->ranks, 1);
		hosts.ranks = hosts.known ? h->ranks : 0;
	}
	if (h->rank < hosts.ranks && !hosts.known[h->rank]) {
		const char *local = vt_measured_text(p, "local", 0);

		hosts.known[h->rank] = 1;
		hosts.local = local ? atoi(local) : 0;
		hosts.here++;
	}
	if (!hosts.local) {
		hosts.local = atomic_load(&h->local_ranks);
	}
}

int vt_hosts_are_several(void)
{
	return hosts.known && vt_hosts_ranks_here() < hosts.ranks;
}

int vt_hosts_ranks_here(void)
{
	return hosts.local ? hosts.local : hosts.here;
}
