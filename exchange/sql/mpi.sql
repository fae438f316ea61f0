-- How much of its time is each rank in MPI, from the end of MPI_Init to the begin of MPI_Finalize?
with span as (
    select rank, thread, min(end_ns) filter (name in ('MPI_Init', 'MPI_Init_thread')) as from_ns,
        max(begin_ns) filter (name = 'MPI_Finalize') as to_ns
    from calls
    where class = 'MPI'
    group by rank, thread
)
select rank, thread, sum(end_ns - begin_ns) as mpi_ns, any_value(to_ns - from_ns) as all_ns,
    sum(end_ns - begin_ns) / any_value(to_ns - from_ns) as share
from calls join span using (rank, thread)
where class = 'MPI' and begin_ns >= from_ns and end_ns <= to_ns
group by rank, thread
order by rank, thread;
