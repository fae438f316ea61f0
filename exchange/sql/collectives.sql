-- How far apart do the members of collective operations arrive, and who is the last most often?
with operations as (
    select id, any_value(name) as name, any_value(communicator) as communicator, count(*) as members,
        max(begin_ns) - min(begin_ns) as spread_ns, arg_max(rank, begin_ns) as last_rank, sum(end_ns - begin_ns) as inside_ns
    from collectives
    group by id
    having members > 1
)
select name, communicator, count(*) as operations, sum(inside_ns) as inside_ns, sum(spread_ns) as spread_ns,
    max(spread_ns) as worst_ns, mode(last_rank) as last_rank
from operations
group by name, communicator
order by spread_ns desc, name, communicator;
