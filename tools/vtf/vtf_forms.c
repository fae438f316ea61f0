/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of each record in ASCII VTF. A form is the keyword that begins the line, then KEY=field for each
 * field, or =field for a value without a key. Scalars are written as KEY value, arrays as KEY n value..., texts
 * in quotes. A field that an incarnation lacks is left out. doc/vtf-ascii.md explains each form. */
#include "config.h"
#include "tools/vtf/vtf.h"

#include <string.h>

static const struct {
	unsigned char class_id;
	unsigned char extended;
	const char *form;
	/* clang-format off */
} forms[] = {
	{ STF_ID_class_definition, 0, "DEFCLASS =id =name SELF=nameself PARENT=parent" },
	{ STF_ID_file_definition, 1, "DEFFILE =id =file" },
	{ STF_ID_scl_definition, 1, "DEFSCL =id FILE=file LINE=line SYMBOL=symbol OBJECT=object" },
	{ STF_ID_function_definition, 0, "DEFFUNCTION =id =name CLASS=classid" },
	{ STF_ID_scope_definition, 1, "DEFSCOPE =id =name CLASS=classid SCL1=scl1 SCL2=scl2" },
	{ STF_ID_counter_definition, 0,
	  "DEFCOUNTER =id =name CLASS=classid CPU=willy TYPE=type DIFF=do_diff UNIT=unit LOWER=lower_bound UPPER=upper_bound" },
	{ STF_ID_group_definition, 0, "DEFGROUP =id =name NMEMBS=willies" },
	{ STF_ID_communicator_definition, 0, "DEFCOMM =id =name LEFT=left_size FIRST=first_id LAST=last_id STRIDE=stride" },
	{ STF_ID_collective_operation_definition, 0, "DEFCOLLOP =id =name TYPE=type" },
	{ STF_ID_file_io_file_definition, 1, "DEFIOFILE =id =name COMM=communicator" },
	{ STF_ID_custom_statistics_definition, 1, "DEFSTATS =id =name LABEL=label UNIT=unit" },
	{ STF_ID_willy_definition, 1, "DEFCPU =willy HOST=hostname IP=ip PID=pid TID=tid OFFSET=offset SKEW=skew" },
	{ STF_ID_willy_name, 1, "DEFCPUNAME =willy =name" },

	{ STF_ID_info, 1, "INFO CLASS=info_class TEXT=info" },

	{ STF_ID_collop_profile, 1,
	  "STATCOLLOPS OP=type ROOT=root COMM=comm COUNT=count_exch MINSENT=min_bytes_sent MAXSENT=max_bytes_sent "
	  "SUMSENT=sum_bytes_sent MINRECVD=min_bytes_recvd MAXRECVD=max_bytes_recvd SUMRECVD=sum_bytes_recvd "
	  "MINRATE=min_rate MAXRATE=max_rate AVGRATE=avg_rate MINTIME=min_duration MAXTIME=max_duration "
	  "SUMTIME=sum_duration" },
	{ STF_ID_collop_statistics, 1, "STATCOLLOP PROCS=numprocs OP=type COUNT=count" },
	{ STF_ID_custom_statistics, 1, "STATCUSTOM STATS=stats_handle NAME=name VALUE=value" },
	{ STF_ID_function_profile, 1,
	  "STATPROFILE CPU=willy FUNCTION=function COUNT=count MINEXCL=min_self MAXEXCL=max_self SUMEXCL=total_self "
	  "MININCL=min_inclusive MAXINCL=max_inclusive SUMINCL=total_inclusive" },
	{ STF_ID_function_statistics, 1,
	  "STATFUNCTION CPU=willy FUNCTION=function COUNT=calls MINEXCL=min_self MAXEXCL=max_self SUMEXCL=total_self "
	  "MININCL=min_inclusive MAXINCL=max_inclusive SUMINCL=total_inclusive" },
	{ STF_ID_lw_statistics, 1,
	  "STATCALLS CPU=willy FUNCTION=function TO=receiver LEN=bytes_sent PROCS=comm_size COUNT=count "
	  "MINEXCL=minTicksExcl MAXEXCL=maxTicksExcl SUMEXCL=sumTicksExcl MININCL=minTicksIncl MAXINCL=maxTicksIncl "
	  "SUMINCL=sumTicksIncl" },
	{ STF_ID_onetoone_profile, 1,
	  "STATMESSAGES FROM=sender TO=receiver SFUNCTION=funcsender RFUNCTION=funcreceiver TAG=tag COMM=comm LEN=size "
	  "COUNT=count SUMTIME=sum_time MINTIME=min_time MAXTIME=max_time" },
	{ STF_ID_onetoone_statistics, 1,
	  "STATLENGTHS FROM=sender TO=receiver COUNT=count MINLEN=min_size MAXLEN=max_size SUMLEN=total" },

	{ STF_ID_counter_value, 0, "SAMP CPU=willy" },
	{ STF_ID_enter_function, 0, "ENTER CPU=willy FUNCTION=function SCL=scl" },
	{ STF_ID_leave_function, 0, "LEAVE CPU=willy SCL=scl" },
	{ STF_ID_enter_scope, 1, "ENTERSCOPE CPU=willy SCOPE=scope SEQ=seqnr SCL=scl" },
	{ STF_ID_leave_scope, 1, "LEAVESCOPE CPU=willy SCOPE=scope SEQ=seqnr SCL=scl" },
	{ STF_ID_file_io_begin, 1, "IOBEGIN CPU=willy TYPE=type FILE=file LEN=bytes SCL=scl" },
	{ STF_ID_file_io_end, 1, "IOEND CPU=willy TYPE=type FILE=file LEN=bytes SCL=scl" },
	{ STF_ID_one_to_one_communication, 0,
	  "MESSAGE FROM=sender TO=receiver TIME=receive_time COMM=communicator TAG=tag LEN=size SFUNCTION=sender_function "
	  "RFUNCTION=receiver_function SSCL=sender_scl RSCL=receiver_scl SCHECK=sender_checksum RCHECK=receiver_checksum" },
	{ STF_ID_message_raw_event, 1,
	  "RAWMESSAGE CPU=willy KIND=kind OTHER=other TAG=tag LEN=size COMM=comm FUNCTION=function SCL=scl" },
	{ STF_ID_all_communication, 0, "COLLALL COMM=communicator OP=type START=start_time TIME=delta SCL=scl" },
	{ STF_ID_all_to_all_communication, 0,
	  "COLLALLTOALL COMM=communicator OP=type START=start_time TIME=delta SENT=send_size RECVD=receive_size SCL=scl" },
	{ STF_ID_all_to_one_communication, 0,
	  "COLLALLTOONE ROOT=receiver ROOTLEN=recvd COMM=communicator OP=type START=start_time TIME=delta SENT=send_size "
	  "SCL=scl" },
	{ STF_ID_one_to_all_communication, 0,
	  "COLLONETOALL ROOT=sender ROOTLEN=sent COMM=communicator OP=type START=start_time TIME=delta RECVD=receive_size "
	  "SCL=scl" },
	{ STF_ID_collop_raw_event, 1,
	  "RAWCOLLOP CPU=willy KIND=kind OP=operation COMM=comm COUNTER=counter ROOT=root SENT=send_size RECVD=receive_size "
	  "TIME=endtime SCL=scl" },
	{ STF_ID_report, 1,
	  "REPORT CPU=willy TYPE=type LEVEL=level TEXT=description TIMES=times CPUS=willys HEADERS=headers "
	  "FUNCTIONS=functions CALLS=calls SCLS=scls" },
	{ STF_ID_comment, 1, "COMMENT CPU=willy TEXT=text" },
	{ STF_ID_opaque_data, 1, "OPAQUE CPU=willy DATA=data SCL=scl" },
	{ STF_ID_end_of_filter, 1, "ENDFILTER CATEGORIES=categories WILLIES=willies" },
};
/* clang-format on */

const unsigned char stt_vtf_declarations[] = {
	STF_ID_class_definition,
	STF_ID_file_definition,
	STF_ID_scl_definition,
	STF_ID_function_definition,
	STF_ID_scope_definition,
	STF_ID_group_definition,
	STF_ID_counter_definition,
	STF_ID_communicator_definition,
	STF_ID_collective_operation_definition,
	STF_ID_file_io_file_definition,
	STF_ID_custom_statistics_definition,
	STF_ID_willy_definition,
	0,
};

static struct stt_vtf_form compiled[STF_ID_END];
static int ready;

static int find_form_field(const struct stf_layout *l, const char *name, size_t len)
{
	int i;

	for (i = 0; i < l->n_fields; i++) {
		if (strlen(l->fields[i].name) == len && !memcmp(l->fields[i].name, name, len)) {
			return i;
		}
	}
	return -1;
}

static void compile(struct stt_vtf_form *form, const char *text, int extended, const struct stf_layout *l)
{
	static char heads[4096];
	static size_t used;
	size_t len = strcspn(text, " ");

	form->head = memcpy(heads + used, text, len);
	used += len + 1; /* the array was filled with zeros */
	form->extended = extended;
	for (text += len; *text; text += len) {
		struct stt_vtf_part *p = &form->part[form->n++];

		text++;
		len = strcspn(text, "=");
		memcpy(p->key, text, len);
		text += len + 1;
		len = strcspn(text, " ");
		p->field = find_form_field(l, text, len);
	}
}

static void compile_all(void)
{
	size_t i;
	unsigned id;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		for (id = 1; id < STF_ID_END; id++) {
			const struct stf_layout *l = stf_layout(id);

			if (l && l->class_id == forms[i].class_id) {
				compile(&compiled[id], forms[i].form, forms[i].extended, l);
			}
		}
	}
	ready = 1;
}

const struct stt_vtf_form *stt_vtf_form(unsigned layout_id)
{
	if (!ready) {
		compile_all();
	}
	return layout_id < STF_ID_END && compiled[layout_id].head ? &compiled[layout_id] : NULL;
}
