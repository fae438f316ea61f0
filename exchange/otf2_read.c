/* SPDX-License-Identifier: BSD-3-Clause */
/* OTF2 archives of anyone, by its own library, which applies the clock offsets that they have. */
#include "config.h"
#include "exchange/otf2_in.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static OTF2_CallbackCode result(struct otf2_in *o, int rc)
{
	o->handled++;
	if (rc == 0) {
		return OTF2_CALLBACK_SUCCESS;
	}
	if (!o->failed) {
		if (stf_writer_error(o->in->w)->code == STF_OK) {
			xch_fail_memory(o->err, o->in->path);
		} else {
			xch_input_stf(o->in, o->err);
		}
	}
	o->failed = 1;
	return OTF2_CALLBACK_INTERRUPT;
}

static uint64_t stamp(const struct otf2_in *o, OTF2_TimeStamp time)
{
	return time < o->offset ? 0 : (time - o->offset) / o->divide;
}

static OTF2_CallbackCode enter(
	OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list, OTF2_RegionRef region)
{
	struct otf2_in *o = user;
	const struct in_location *l = otf2_in_location(o, location);
	uint32_t k = xch_map_find(&o->region_of, region);
	struct stf_enter_function e = { .time = stamp(o, time) };

	(void)list;
	if (!l || k == XCH_NONE) {
		o->beyond++;
		return OTF2_CALLBACK_SUCCESS;
	}
	e.willy = l->willy;
	e.function = k + 1;
	o->in->records++;
	return result(o, stf_write_enter_function(o->in->w, &e));
}

static OTF2_CallbackCode leave(
	OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list, OTF2_RegionRef region)
{
	struct otf2_in *o = user;
	const struct in_location *l = otf2_in_location(o, location);
	struct stf_leave_function e = { .time = stamp(o, time) };

	(void)list;
	(void)region;
	if (!l) {
		o->beyond++;
		return OTF2_CALLBACK_SUCCESS;
	}
	e.willy = l->willy;
	o->in->records++;
	return result(o, stf_write_leave_function(o->in->w, &e));
}

static int half(
	struct otf2_in *o, OTF2_LocationRef location, uint32_t rank, OTF2_CommRef comm, struct xch_half *h, int sends)
{
	const struct in_location *l = otf2_in_location(o, location);
	uint32_t k = xch_map_find(&o->comm_of, comm);
	const struct in_comm *c = k == XCH_NONE ? NULL : &((struct in_comm *)o->comms.v)[k];

	if (!l || !c || rank >= c->n) {
		o->beyond++;
		return -1;
	}
	h->communicator = c->id;
	h->sender = sends ? l->willy : c->willy[rank];
	h->receiver = sends ? c->willy[rank] : l->willy;
	return 0;
}

static OTF2_CallbackCode mpi_send(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t size)
{
	struct otf2_in *o = user;
	struct xch_half h = {
		.tag = tag, .time = stamp(o, time), .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size
	};

	(void)list;
	return half(o, location, receiver, comm, &h, 1) < 0 ? OTF2_CALLBACK_SUCCESS
							    : result(o, xch_match_send(o->match, &h));
}

static OTF2_CallbackCode mpi_isend(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t size, uint64_t request)
{
	(void)request;
	return mpi_send(location, time, user, list, receiver, comm, tag, size);
}

static OTF2_CallbackCode mpi_recv(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t size)
{
	struct otf2_in *o = user;
	struct xch_half h = {
		.tag = tag, .time = stamp(o, time), .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size
	};

	(void)list;
	return half(o, location, sender, comm, &h, 0) < 0 ? OTF2_CALLBACK_SUCCESS
							  : result(o, xch_match_receive(o->match, &h));
}

static OTF2_CallbackCode mpi_irecv(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t size, uint64_t request)
{
	(void)request;
	return mpi_recv(location, time, user, list, sender, comm, tag, size);
}

/* Says nothing that a message does not have: the end of a send, the request of a receive. */
static OTF2_CallbackCode request(
	OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list, uint64_t id)
{
	struct otf2_in *o = user;

	(void)location;
	(void)time;
	(void)list;
	(void)id;
	return result(o, 0);
}

static OTF2_CallbackCode coll_begin(
	OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list)
{
	struct otf2_in *o = user;
	struct in_location *l = otf2_in_location(o, location);

	(void)list;
	if (l) {
		l->begin = stamp(o, time);
	}
	return result(o, 0);
}

static OTF2_CallbackCode coll_end(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
	struct otf2_in *o = user;
	const struct in_location *l = otf2_in_location(o, location);
	uint32_t k = xch_map_find(&o->comm_of, comm), rank = 0;
	struct in_comm *c = k == XCH_NONE ? NULL : &((struct in_comm *)o->comms.v)[k];

	(void)list;
	while (l && c && rank < c->n && c->willy[rank] != l->willy) {
		rank++;
	}
	if (!l || !c || rank >= c->n) {
		o->beyond++;
		return OTF2_CALLBACK_SUCCESS;
	}
	return result(o, otf2_in_collective(o, c, rank, op, root, l->begin, stamp(o, time), sent, received));
}

/* A value as the type that its counter has here. */
static uint64_t value_of(OTF2_Type type, OTF2_MetricValue v, OTF2_Type want)
{
	double d = v.floating_point;
	uint64_t bits;

	if (want == OTF2_TYPE_DOUBLE || want == OTF2_TYPE_FLOAT) {
		d = type == OTF2_TYPE_INT64        ? (double)v.signed_int
			: type == OTF2_TYPE_UINT64 ? (double)v.unsigned_int
						   : d;
		memcpy(&bits, &d, sizeof(bits));
		return bits;
	}
	return type == OTF2_TYPE_DOUBLE ? (uint64_t)(int64_t)d : v.unsigned_int;
}

static OTF2_CallbackCode metric(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_MetricRef ref, uint8_t n, const OTF2_Type *types, const OTF2_MetricValue *values)
{
	struct otf2_in *o = user;
	const struct in_location *l = otf2_in_location(o, location);
	const struct in_metric *m = o->metrics.v;
	const struct in_member *member = o->members.v;
	uint32_t k = xch_map_find(&o->metric_of, ref), ids[UINT8_MAX], i, count = 0;
	uint64_t v[UINT8_MAX];
	struct stf_counter_value r = { .time = stamp(o, time), .values = v, .counters = ids };

	(void)list;
	if (k != XCH_NONE && m[k].of != XCH_NONE) {
		k = xch_map_find(&o->metric_of, m[k].of);
	}
	if (!l || k == XCH_NONE || m[k].of != XCH_NONE || n > m[k].n) {
		o->beyond++;
		return OTF2_CALLBACK_SUCCESS;
	}
	for (i = 0; i < n; i++) {
		uint32_t at = xch_map_find(&o->member_of, m[k].member[i]);

		if (at != XCH_NONE) {
			v[count] = value_of(types[i], values[i], member[at].type);
			ids[count++] = at + 1;
		}
	}
	r.willy = l->willy;
	r.size_1_2 = count;
	o->in->records++;
	return result(o, count ? stf_write_counter_value(o->in->w, &r) : 0);
}

static OTF2_CallbackCode io_begin(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_IoHandleRef handle, OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags, uint64_t bytes, uint64_t id)
{
	struct otf2_in *o = user;
	struct in_location *l = otf2_in_location(o, location);
	uint32_t k = xch_map_find(&o->handle_of, handle);
	struct stf_file_io_begin r = {
		.time = stamp(o, time), .file = k + 1, .bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes
	};

	(void)list;
	(void)flags;
	(void)id;
	if (!l || k == XCH_NONE) {
		o->beyond++;
		return OTF2_CALLBACK_SUCCESS;
	}
	r.willy = l->willy;
	r.type = l->io_type = mode == OTF2_IO_OPERATION_MODE_READ;
	o->in->records++;
	return result(o, stf_write_file_io_begin(o->in->w, &r));
}

static OTF2_CallbackCode io_end(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_IoHandleRef handle, uint64_t bytes, uint64_t id)
{
	struct otf2_in *o = user;
	const struct in_location *l = otf2_in_location(o, location);
	uint32_t k = xch_map_find(&o->handle_of, handle);
	struct stf_file_io_end r = {
		.time = stamp(o, time), .file = k + 1, .bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes
	};

	(void)list;
	(void)id;
	if (!l || k == XCH_NONE) {
		o->beyond++;
		return OTF2_CALLBACK_SUCCESS;
	}
	r.willy = l->willy;
	r.type = (uint8_t)l->io_type;
	o->in->records++;
	return result(o, stf_write_file_io_end(o->in->w, &r));
}

static OTF2_GlobalEvtReaderCallbacks *callbacks(void)
{
	OTF2_GlobalEvtReaderCallbacks *c = OTF2_GlobalEvtReaderCallbacks_New();

	if (c) {
		OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(c, enter);
		OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(c, leave);
		OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(c, mpi_send);
		OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(c, mpi_isend);
		OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(c, request);
		OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(c, mpi_recv);
		OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(c, mpi_irecv);
		OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(c, request);
		OTF2_GlobalEvtReaderCallbacks_SetMpiRequestTestCallback(c, request);
		OTF2_GlobalEvtReaderCallbacks_SetMpiRequestCancelledCallback(c, request);
		OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, coll_begin);
		OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(c, coll_end);
		OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(c, metric);
		OTF2_GlobalEvtReaderCallbacks_SetIoOperationBeginCallback(c, io_begin);
		OTF2_GlobalEvtReaderCallbacks_SetIoOperationCompleteCallback(c, io_end);
	}
	return c;
}

/* ---- all of it ---- */

/* Opens the files of all locations, with what they say of their clocks. */
static OTF2_ErrorCode open_locations(struct otf2_in *o, uint64_t *expected)
{
	const struct in_location *l = o->locations.v;
	int defs = OTF2_Reader_OpenDefFiles(o->reader) == OTF2_SUCCESS;
	OTF2_ErrorCode code = OTF2_SUCCESS;
	OTF2_DefReader *d;
	uint64_t n;
	uint32_t i;

	for (i = 0; i < o->locations.n && code == OTF2_SUCCESS; i++) {
		code = OTF2_Reader_SelectLocation(o->reader, l[i].ref);
		*expected += l[i].events;
	}
	if (code == OTF2_SUCCESS) {
		code = OTF2_Reader_OpenEvtFiles(o->reader);
	}
	for (i = 0; i < o->locations.n && code == OTF2_SUCCESS; i++) {
		d = defs ? OTF2_Reader_GetDefReader(o->reader, l[i].ref) : NULL;
		if (d) {
			code = OTF2_Reader_ReadAllLocalDefinitions(o->reader, d, &n);
			OTF2_Reader_CloseDefReader(o->reader, d);
		}
		if (code == OTF2_SUCCESS && !OTF2_Reader_GetEvtReader(o->reader, l[i].ref)) {
			code = OTF2_ERROR_FILE_CAN_NOT_OPEN;
		}
	}
	if (defs) {
		OTF2_Reader_CloseDefFiles(o->reader);
	}
	o->errors.text[0] = 0; /* an archive may do without local definitions */
	return code;
}

static int read_events(struct otf2_in *o)
{
	OTF2_GlobalEvtReader *g = NULL;
	OTF2_GlobalEvtReaderCallbacks *c = callbacks();
	uint64_t n = 0, expected = 0, alone;
	OTF2_ErrorCode code;
	char what[100];

	o->match = xch_match_new(o->in->w);
	if (!c || !o->match) {
		OTF2_GlobalEvtReaderCallbacks_Delete(c);
		return xch_fail_memory(o->err, o->in->path);
	}
	code = open_locations(o, &expected);
	if (code == OTF2_SUCCESS) {
		g = OTF2_Reader_GetGlobalEvtReader(o->reader);
		code = g ? OTF2_Reader_RegisterGlobalEvtCallbacks(o->reader, g, c, o) : OTF2_ERROR_INVALID;
	}
	if (code == OTF2_SUCCESS) {
		code = OTF2_Reader_ReadAllGlobalEvents(o->reader, g, &n);
	}
	OTF2_GlobalEvtReaderCallbacks_Delete(c);
	if (o->failed) {
		return -1;
	}
	snprintf(what, sizeof(what), "cannot read the events, after %" PRIu64 " of %" PRIu64, n, expected);
	if (code != OTF2_SUCCESS || n < expected) {
		return otf2_fail(o->err, &o->errors, o->in->path, what, code);
	}
	if (xch_match_end(o->match) < 0 || otf2_in_collectives_end(o) < 0) {
		result(o, -1);
		return -1;
	}
	o->in->records += xch_match_count(o->match, &alone);
	o->in->skipped = n - o->handled;
	if (o->in->skipped || alone) {
		snprintf(o->in->note, sizeof(o->in->note),
			"%" PRIu64 " events of kinds that STF has no record for were left out, %" PRIu64
			" of them refer to what is not defined; %" PRIu64 " messages have one end only",
			o->in->skipped, o->beyond, alone);
	}
	return 0;
}

int otf2_read(struct xch_input *in, struct tkm_err *err)
{
	struct otf2_in o = { .in = in, .err = err };
	int rc;

	if (otf2_check_anchor(&o) < 0) {
		return -1;
	}
	otf2_errors_begin(&o.errors);
	o.reader = OTF2_Reader_Open(in->path);
	if (!o.reader) {
		rc = otf2_fail(err, &o.errors, in->path, "cannot open the archive", OTF2_SUCCESS);
	} else if (OTF2_Reader_SetSerialCollectiveCallbacks(o.reader) != OTF2_SUCCESS) {
		rc = otf2_fail(err, &o.errors, in->path, "cannot open the archive", OTF2_SUCCESS);
	} else {
		rc = otf2_in_definitions(&o) < 0 || otf2_in_write(&o) < 0 || read_events(&o) < 0 ? -1 : 0;
	}
	if (o.reader) {
		OTF2_Reader_Close(o.reader);
	}
	otf2_errors_end(&o.errors);
	otf2_in_free(&o);
	return rc;
}
