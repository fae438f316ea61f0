/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads OTF2 archives of any writer with the OTF2 library, which applies the clock offsets in the archive. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <inttypes.h>
#include <string.h>

/* ---- events ---- */

/* Writes an event to the trace, or to the run that is being made. */
static OTF2_CallbackCode put_event(struct xch_otf2_in *o, const struct xch_otf2_event *v)
{
	int rc = o->runs ? xch_otf2_runs_put(o->runs, v, o->err) : xch_otf2_in_event(o, v);

	o->failed |= rc < 0;
	return rc < 0 ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static void count_attributes(struct xch_otf2_in *o, const OTF2_AttributeList *list)
{
	o->lost.attributes += list && !o->ours ? OTF2_AttributeList_GetNumberOfElements(list) : 0;
}

static OTF2_CallbackCode enter(
	OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list, OTF2_RegionRef region)
{
	count_attributes(user, list);
	return put_event(user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_ENTER, .a = { region } });
}

static OTF2_CallbackCode leave(
	OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list, OTF2_RegionRef region)
{
	count_attributes(user, list);
	return put_event(user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_LEAVE, .a = { region } });
}

static OTF2_CallbackCode mpi_send(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t size)
{
	count_attributes(user, list);
	return put_event(
		user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_SEND, .a = { receiver, comm, tag, size } });
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
	count_attributes(user, list);
	return put_event(
		user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_RECEIVE, .a = { sender, comm, tag, size } });
}

static OTF2_CallbackCode mpi_irecv(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t size, uint64_t request)
{
	(void)request;
	return mpi_recv(location, time, user, list, sender, comm, tag, size);
}

/* Ignores records with no information beyond that of the message: the end of a send, the request of a receive. */
static OTF2_CallbackCode request(
	OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list, uint64_t id)
{
	(void)location, (void)time, (void)id;
	count_attributes(user, list);
	((struct xch_otf2_in *)user)->handled++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode coll_begin(
	OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list)
{
	count_attributes(user, list);
	return put_event(user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_COLL_BEGIN, .n = 0 });
}

static OTF2_CallbackCode coll_end(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
	count_attributes(user, list);
	return put_event(user,
		&(struct xch_otf2_event){
			time, location, OTF2_EVENT_COLL_END, .a = { op, comm, root, sent, received } });
}

static OTF2_CallbackCode coll_request(
	OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list, uint64_t id)
{
	count_attributes(user, list);
	return put_event(user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_COLL_REQUEST, .a = { id } });
}

static OTF2_CallbackCode coll_complete(OTF2_LocationRef location, OTF2_TimeStamp time, void *user,
	OTF2_AttributeList *list, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
	uint64_t received, uint64_t id)
{
	count_attributes(user, list);
	return put_event(user,
		&(struct xch_otf2_event){
			time, location, OTF2_EVENT_COLL_COMPLETE, .a = { op, comm, root, sent, received, id } });
}

static OTF2_CallbackCode metric(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_MetricRef ref, uint8_t n, const OTF2_Type *types, const OTF2_MetricValue *values)
{
	struct xch_otf2_event v = { time, location, OTF2_EVENT_METRIC, .n = n, .types = types, .a = { ref } };

	count_attributes(user, list);
	v.values = (const uint64_t *)values; /* a union of numbers of 8 bytes */
	return put_event(user, &v);
}

static OTF2_CallbackCode io_begin(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_IoHandleRef handle, OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags, uint64_t bytes, uint64_t id)
{
	(void)flags;
	count_attributes(user, list);
	return put_event(user,
		&(struct xch_otf2_event){ time, location, OTF2_EVENT_IO_BEGIN, .a = { handle, mode, bytes, id } });
}

static OTF2_CallbackCode io_end(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_IoHandleRef handle, uint64_t bytes, uint64_t id)
{
	count_attributes(user, list);
	return put_event(
		user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_IO_END, .a = { handle, 0, bytes, id } });
}

static OTF2_CallbackCode rma_put(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes, uint64_t id)
{
	count_attributes(user, list);
	return put_event(
		user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_PUT, .a = { window, remote, bytes, id } });
}

static OTF2_CallbackCode rma_get(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes, uint64_t id)
{
	count_attributes(user, list);
	return put_event(
		user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_GET, .a = { window, remote, bytes, id } });
}

static OTF2_CallbackCode rma_done(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,
	OTF2_RmaWinRef window, uint64_t id)
{
	count_attributes(user, list);
	return put_event(user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_RMA_DONE, .a = { window, id } });
}

static OTF2_CallbackCode rma_done_there(OTF2_LocationRef location, OTF2_TimeStamp time, void *user,
	OTF2_AttributeList *list, OTF2_RmaWinRef window, uint64_t id)
{
	count_attributes(user, list);
	return put_event(user, &(struct xch_otf2_event){ time, location, OTF2_EVENT_RMA_DONE, .a = { window, id, 1 } });
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
		OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, coll_request);
		OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, coll_complete);
		OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(c, metric);
		OTF2_GlobalEvtReaderCallbacks_SetIoOperationBeginCallback(c, io_begin);
		OTF2_GlobalEvtReaderCallbacks_SetIoOperationCompleteCallback(c, io_end);
		OTF2_GlobalEvtReaderCallbacks_SetRmaPutCallback(c, rma_put);
		OTF2_GlobalEvtReaderCallbacks_SetRmaGetCallback(c, rma_get);
		OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(c, rma_done);
		OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(c, rma_done);
		OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(c, rma_done_there);
	}
	return c;
}

/* ---- all of it ---- */

/* The bytes of chunks that may be in memory at the same time. A fuzz target has less. */
#ifndef CHUNKS_MEMORY
#define CHUNKS_MEMORY (48 << 20)
#endif

static int check_location(struct xch_otf2_in *o, uint64_t location, const char *suffix, enum xch_otf2_file file)
{
	char name[40];
	int rc;

	snprintf(name, sizeof(name), "/%" PRIu64 "%s", location, suffix);
	rc = xch_otf2_check_file(o, name, file);
	o->failed |= rc < 0;
	return o->failed ? -1 : rc;
}

/* Reads what the locations' definitions say about their clocks. */
static OTF2_ErrorCode local_definitions(struct xch_otf2_in *o)
{
	const struct in_location *l = o->locations.v;
	int defs = OTF2_Reader_OpenDefFiles(o->reader) == OTF2_SUCCESS;
	OTF2_ErrorCode code = OTF2_SUCCESS;
	OTF2_DefReader *d;
	uint64_t n = 0;
	char name[40];
	uint32_t i;

	for (i = 0; defs && i < o->locations.n && code == OTF2_SUCCESS; i++) {
		if (check_location(o, l[i].ref, ".def", OTF2_LOCATION_DEFINITIONS) < 0) {
			break;
		}
		d = OTF2_Reader_GetDefReader(o->reader, l[i].ref);
		if (d) {
			code = OTF2_Reader_ReadAllLocalDefinitions(o->reader, d, &n);
			OTF2_Reader_CloseDefReader(o->reader, d);
		}
		if (code != OTF2_SUCCESS) {
			o->failed = 1;
			snprintf(name, sizeof(name), "/%" PRIu64 ".def", l[i].ref);
			xch_otf2_damaged(o, name, xch_otf2_record_at(o, name, OTF2_LOCATION_DEFINITIONS, 0, n),
				"cannot read the definitions: %s", OTF2_Error_GetDescription(code));
		}
	}
	if (defs) {
		OTF2_Reader_CloseDefFiles(o->reader);
	}
	o->errors.text[0] = 0; /* an archive may lack local definitions */
	return code;
}

static OTF2_ErrorCode open_locations(struct xch_otf2_in *o, uint64_t *expected)
{
	const struct in_location *l = o->locations.v;
	OTF2_ErrorCode code = OTF2_SUCCESS;
	uint32_t i;

	for (i = 0; i < o->locations.n && code == OTF2_SUCCESS; i++) {
		code = OTF2_Reader_SelectLocation(o->reader, l[i].ref);
		*expected += l[i].events;
	}
	if (code == OTF2_SUCCESS) {
		code = OTF2_Reader_OpenEvtFiles(o->reader);
	}
	return code == OTF2_SUCCESS ? local_definitions(o) : code;
}

/* Opens the events of a location, if there are any, and counts it in *opened. */
static OTF2_ErrorCode open_events(struct xch_otf2_in *o, const struct in_location *l, uint32_t *opened)
{
	int rc = check_location(o, l->ref, ".evt", OTF2_EVENT_FILE);
	char name[40];

	snprintf(name, sizeof(name), "/%" PRIu64 ".evt", l->ref);
	if (rc == OTF2_NO_FILE && l->events) {
		rc = xch_otf2_damaged(o, ".def",
			xch_otf2_record_at(o, ".def", OTF2_ARCHIVE_DEFINITIONS, OTF2_LOCATION, l->nth),
			"a location of %" PRIu64 " events, and no file %s of them", l->events, name + 1);
	} else if (rc == 0 && o->events < l->events) {
		rc = xch_otf2_damaged(o, name, o->checked,
			"the file has %" PRIu64 " events, and its location's definition says %" PRIu64, o->events,
			l->events);
	}
	o->failed |= rc < 0;
	/* of a location without events the library reads what it has freed */
	if (rc != 0 || o->events == 0) {
		return rc < 0 ? OTF2_ERROR_INVALID : OTF2_SUCCESS;
	}
	++*opened;
	return OTF2_Reader_GetEvtReader(o->reader, l->ref) ? OTF2_SUCCESS : OTF2_ERROR_FILE_CAN_NOT_OPEN;
}

/* Reads the events of some locations in the order of their time; adds their number to *n. */
static OTF2_ErrorCode read_group(
	struct xch_otf2_in *o, OTF2_GlobalEvtReaderCallbacks *c, uint32_t from, uint32_t to, uint64_t *n)
{
	const struct in_location *l = o->locations.v;
	OTF2_GlobalEvtReader *g;
	OTF2_ErrorCode code = OTF2_SUCCESS;
	uint32_t i, opened = 0;
	uint64_t read = 0;

	for (i = from; i < to && code == OTF2_SUCCESS; i++) {
		code = open_events(o, &l[i], &opened);
	}
	if (!opened || code != OTF2_SUCCESS) {
		return code;
	}
	o->errors.text[0] = 0;
	g = OTF2_Reader_GetGlobalEvtReader(o->reader);
	code = g ? OTF2_Reader_RegisterGlobalEvtCallbacks(o->reader, g, c, o) : OTF2_ERROR_INVALID;
	if (code == OTF2_SUCCESS) {
		code = OTF2_Reader_ReadAllGlobalEvents(o->reader, g, &read);
	}
	*n += read;
	if (code == OTF2_SUCCESS) {
		/* this also closes the readers of its locations */
		code = OTF2_Reader_CloseGlobalEvtReader(o->reader, g);
	}
	return code;
}

/* The library keeps a chunk of each location that it reads. If there are many locations, this reads one group of
 * them at a time into a run, and then merges the runs. */
static OTF2_ErrorCode read_groups(struct xch_otf2_in *o, OTF2_GlobalEvtReaderCallbacks *c, uint64_t *n)
{
	uint32_t all = o->locations.n, group = (uint32_t)(CHUNKS_MEMORY / o->chunk[0]), from, to;
	OTF2_ErrorCode code = OTF2_SUCCESS;

	group = group ? group : 1;
	if (all <= group) {
		return read_group(o, c, 0, all, n);
	}
	o->runs = xch_otf2_runs_new(o->in->to, o->err);
	o->failed = !o->runs;
	for (from = 0; from < all && code == OTF2_SUCCESS && !o->failed; from = to) {
		to = all - from > group ? from + group : all;
		code = read_group(o, c, from, to, n);
		o->failed |= code == OTF2_SUCCESS && xch_otf2_runs_end(o->runs, o->err) < 0;
	}
	if (code == OTF2_SUCCESS && !o->failed) {
		o->failed |= xch_otf2_runs_merge(o->runs, o) < 0;
	}
	xch_otf2_runs_free(o->runs);
	o->runs = NULL;
	return code;
}

/* What STF has no place for, besides events. */
static void note_lost(struct xch_otf2_in *o)
{
	const struct {
		uint64_t n;
		const char *what;
	} lost[] = { { o->lost.attributes, "attributes of events" }, { o->lost.roles, "roles of regions" },
		{ o->lost.lines, "source lines of regions" }, { o->lost.names, "names of first threads" } };
	size_t i, k = strlen(o->in->note), first = 1;

	for (i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		if (lost[i].n && k < sizeof(o->in->note)) {
			k += (size_t)snprintf(o->in->note + k, sizeof(o->in->note) - k, "%s%s%" PRIu64 " %s",
				!first          ? ", "
					: k > 0 ? "; "
						: "",
				first ? "STF has no place for " : "", lost[i].n, lost[i].what);
			first = 0;
		}
	}
}

/* The kinds of events for which there are no callbacks, by the numbers that they have in files. */
/* clang-format off */
static const char *const left_out[256] = {
	[10] = "BufferFlush",
	[11] = "MeasurementOnOff",
	[24] = "OmpFork",
	[25] = "OmpJoin",
	[26] = "OmpAcquireLock",
	[27] = "OmpReleaseLock",
	[28] = "OmpTaskCreate",
	[29] = "OmpTaskSwitch",
	[30] = "OmpTaskComplete",
	[32] = "ParameterString",
	[33] = "ParameterInt",
	[34] = "ParameterUnsignedInt",
	[35] = "RmaWinCreate",
	[36] = "RmaWinDestroy",
	[37] = "RmaCollectiveBegin",
	[38] = "RmaCollectiveEnd",
	[39] = "RmaGroupSync",
	[40] = "RmaRequestLock",
	[41] = "RmaAcquireLock",
	[42] = "RmaTryLock",
	[43] = "RmaReleaseLock",
	[44] = "RmaSync",
	[45] = "RmaWaitChange",
	[48] = "RmaAtomic",
	[51] = "RmaOpTest",
	[53] = "ThreadFork",
	[54] = "ThreadJoin",
	[55] = "ThreadTeamBegin",
	[56] = "ThreadTeamEnd",
	[57] = "ThreadAcquireLock",
	[58] = "ThreadReleaseLock",
	[59] = "ThreadTaskCreate",
	[60] = "ThreadTaskSwitch",
	[61] = "ThreadTaskComplete",
	[62] = "ThreadCreate",
	[63] = "ThreadBegin",
	[64] = "ThreadWait",
	[65] = "ThreadEnd",
	[68] = "CallingContextSample",
	[69] = "IoCreateHandle",
	[70] = "IoDestroyHandle",
	[71] = "IoDuplicateHandle",
	[72] = "IoSeek",
	[73] = "IoChangeStatusFlags",
	[74] = "IoDeleteFile",
	[76] = "IoOperationTest",
	[77] = "IoOperationIssued",
	[79] = "IoOperationCancelled",
	[80] = "IoAcquireLock",
	[81] = "IoReleaseLock",
	[82] = "IoTryLock",
	[83] = "ProgramBegin",
	[84] = "ProgramEnd",
	[87] = "CommCreate",
	[88] = "CommDestroy",
};
/* clang-format on */

static void note_kinds(struct xch_otf2_in *o)
{
	size_t n = strlen(o->in->note), size = sizeof(o->in->note);
	const char *before = "; kinds left out (";
	int i;

	for (i = 0; i < 256 && n < size; i++) {
		if (left_out[i] && o->kinds[i]) {
			n += (size_t)snprintf(
				o->in->note + n, size - n, "%s%s %" PRIu64, before, left_out[i], o->kinds[i]);
			before = ", ";
		}
	}
	if (n < size && *before == ',') {
		snprintf(o->in->note + n, size - n, ")");
	}
}

static int read_events(struct xch_otf2_in *o)
{
	OTF2_GlobalEvtReaderCallbacks *c = callbacks();
	uint64_t n = 0, expected = 0, alone;
	OTF2_ErrorCode code;
	char what[100];

	if (!c) {
		return xch_fail_memory(o->err, o->in->path);
	}
	code = open_locations(o, &expected);
	if (code == OTF2_SUCCESS && !o->failed) {
		code = read_groups(o, c, &n);
	}
	OTF2_GlobalEvtReaderCallbacks_Delete(c);
	if (o->failed) {
		return -1;
	}
	snprintf(what, sizeof(what), "cannot read the events, after %" PRIu64 " of %" PRIu64, n, expected);
	if (code != OTF2_SUCCESS || n < expected) {
		return xch_otf2_fail(o->err, &o->errors, o->in->path, what, code);
	}
	if (xch_otf2_coll_rest(o) < 0 || xch_build_end(o->b) < 0) {
		return -1;
	}
	alone = xch_build_alone(o->b);
	o->in->skipped = n - o->handled;
	if (o->in->skipped || alone || o->begun_only) {
		size_t k = strlen(o->in->note);

		snprintf(o->in->note + k, sizeof(o->in->note) - k,
			"%s%" PRIu64 " events of kinds that STF has no record for were left out, %" PRIu64
			" of them do not fit the definitions; %" PRIu64 " messages have one end only, %" PRIu64
			" collective operations have a begin only",
			k ? "; " : "", o->in->skipped, o->beyond, alone, o->begun_only);
		note_kinds(o);
	}
	if (!o->ours) {
		note_lost(o);
	}
	return 0;
}

int xch_otf2_read(struct xch_input *in, struct tkm_err *err)
{
	struct xch_otf2_in o = { .in = in, .err = err, .first = UINT64_MAX };
	int rc = xch_otf2_in_open(&o);

	if (rc == 0) {
		o.b = xch_build_new(in, err);
		rc = !o.b || xch_otf2_in_definitions(&o) < 0 || xch_otf2_in_write(&o) < 0 || read_events(&o) < 0 ? -1
														 : 0;
		xch_otf2_in_close(&o);
	}
	xch_otf2_in_free(&o);
	return rc;
}
