-- Tables of a trace in Parquet (stftool T.stf --convert T.parquet), for the questions in the other files:
--   duckdb -cmd "set variable trace = 'T'" -cmd ".read trace.sql" < functions.sql
create or replace temp view events as
select * from read_parquet(getvariable('trace') || '.events.parquet', file_row_number = true);

create or replace temp view samples as
select *, coalesce(value_int, value) as amount from read_parquet(getvariable('trace') || '.parquet');

-- A row for each call of a function. end_ns is null where the trace ended in it; depth 1: not called by another one.
create or replace temp view calls as
with steps as (
    select *, sum(if(kind = 'enter', 1, -1)) over before + if(kind = 'leave', 1, 0) as depth
    from events
    where kind in ('enter', 'leave')
    window before as (partition by rank, thread order by file_row_number rows unbounded preceding)
), pairs as (
    select *, lead(kind) over next as next_kind, lead(time_ns) over next as next_ns
    from steps
    window next as (partition by rank, thread, depth order by file_row_number)
)
select rank, thread, depth, class, name, location, time_ns as begin_ns, if(next_kind = 'leave', next_ns, null) as end_ns,
    bound_ns, file_row_number as place
from pairs
where kind = 'enter';

-- A row for each message of which both ends are recorded. bound_ns: by how much received_ns - sent_ns may be off.
create or replace temp view messages as
select s.id, s.rank as sender, s.thread as sender_thread, r.rank as receiver, r.thread as receiver_thread, s.communicator,
    s.tag, s.bytes, s.time_ns as sent_ns, r.time_ns as received_ns, s.bound_ns + r.bound_ns as bound_ns,
    r.file_row_number as place
from events s join events r using (id)
where s.kind = 'send' and r.kind = 'receive';

-- A row for each member of a collective operation.
create or replace temp view collectives as
select b.id, b.name, b.communicator, b.rank, b.thread, b.time_ns as begin_ns, e.time_ns as end_ns, b.bytes as sent,
    b.received, b.bound_ns
from events b left join events e on e.id = b.id and e.rank = b.rank and e.thread = b.thread and e.kind = 'collective_end'
where b.kind = 'collective_begin';
