/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up messages and collective operations. */
#include "report/calls/traffic.h"
#include "config.h"

static struct vtr_flow *find_pair(struct vtr_traffic *traffic, uint32_t from, uint32_t to)
{
	const uint32_t key[2] = { from, to };
	struct vtr_flow *f = tkm_table_find(&traffic->pairs, key, sizeof(key));

	if (!f && tkm_table_count(&traffic->pairs) < VTR_PAIRS) {
		f = tkm_table_put(&traffic->pairs, key, sizeof(key), sizeof(*f));
		if (f) {
			f->from = from;
			f->to = to;
		}
	}
	return f;
}

static void add_to_flow(struct vtr_flow *f, const struct stf_one_to_one_communication_4 *m)
{
	double takes = (double)m->receive_time;

	f->n++;
	f->bytes += m->size;
	if (m->receive_time != STF_RECEIVE_UNKNOWN && m->receive_time != STF_SEND_UNKNOWN) {
		f->least = !f->timed || takes < f->least ? takes : f->least;
		f->most = !f->timed || takes > f->most ? takes : f->most;
		f->sum += takes;
		f->timed++;
	}
}

static void add_message(struct vtr_traffic *traffic, const struct stf_one_to_one_communication_4 *m)
{
	struct vtr_flow *pair = find_pair(traffic, stf_willy_process(m->sender), stf_willy_process(m->receiver));
	uint32_t size = m->size;
	int k = 0;

	for (; size; size >>= 1) {
		k++;
	}
	add_to_flow(&traffic->size[k < VTR_SIZES ? k : VTR_SIZES - 1], m);
	if (pair) {
		add_to_flow(pair, m);
	} else {
		traffic->left_out++;
	}
}

static uint64_t time_of_member(const struct stf_value *v, uint32_t i)
{
	uint64_t t;

	memcpy(&t, (const char *)v->array + 8 * (size_t)i, sizeof(t));
	return t;
}

static uint64_t bytes_of_members(const struct stf_record *r, const char *name)
{
	const struct stf_value *v = stf_value(r, name);
	const uint32_t *size = v ? v->array : NULL;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; size && i < v->count; i++) {
		sum += size[i];
	}
	return sum;
}

static int add_collective(struct vtr_traffic *traffic, const struct stf_record *r)
{
	const struct stf_value *type = stf_value(r, "type"), *comm = stf_value(r, "communicator");
	const struct stf_value *start = stf_value(r, "start_time"), *delta = stf_value(r, "delta");
	const uint32_t key[2] = { type ? (uint32_t)type->u : 0, comm ? (uint32_t)comm->u : 0 };
	struct vtr_collective *c = tkm_table_put(&traffic->collectives, key, sizeof(key), sizeof(*c));
	uint64_t first = UINT64_MAX, last = 0;
	uint32_t i;

	if (!c) {
		return -1;
	}
	c->type = key[0];
	c->communicator = key[1];
	c->n++;
	c->bytes += bytes_of_members(r, "send_size") + bytes_of_members(r, "receive_size");
	for (i = 0; start && delta && start->array && delta->array && i < start->count && i < delta->count; i++) {
		uint64_t begin = time_of_member(start, i);
		double length = (double)time_of_member(delta, i);

		if (begin != UINT64_MAX) {
			first = begin < first ? begin : first;
			last = begin > last ? begin : last;
			c->time += length;
			c->longest = length > c->longest ? length : c->longest;
		}
	}
	if (first <= last) {
		c->spread += (double)(last - first);
		c->most_spread = (double)(last - first) > c->most_spread ? (double)(last - first) : c->most_spread;
	}
	return 0;
}

int vtr_traffic_add(struct vtr_traffic *traffic, const struct stf_record *r)
{
	struct stf_one_to_one_communication_4 m;

	if (r->layout->kind == STF_KIND_MSG && stf_get_one_to_one_communication_4(r, &m) == 0) {
		add_message(traffic, &m);
	} else if (r->layout->kind == STF_KIND_COLL) {
		return add_collective(traffic, r);
	}
	return 0;
}

int vtr_traffic_wait(struct vtr_traffic *traffic, const struct stf_single_wait *w)
{
	uint32_t waiter = stf_willy_process(w->willy), cause = stf_willy_process(w->cause);
	int sends = w->kind == STF_WAIT_LATE_RECEIVER;
	struct vtr_flow *f;

	if (!w->decided || (w->kind != STF_WAIT_LATE_SENDER && !sends)) {
		return 0;
	}
	f = find_pair(traffic, sends ? waiter : cause, sends ? cause : waiter);
	if (f) {
		f->waits++;
		f->waited += (double)(w->to - w->from);
	}
	return 0;
}

void vtr_traffic_free(struct vtr_traffic *traffic)
{
	tkm_table_free(&traffic->pairs);
	tkm_table_free(&traffic->collectives);
}
