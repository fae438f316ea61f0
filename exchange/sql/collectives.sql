-- How far apart do the members of collective operations arrive, and who is the last most often? It is undecided where the two
-- last begins are not farther apart than the bound of both.
with operations as (
    select id, any_value(name) as name, any_value(communicator) as communicator, count(*) as members,
        max(begin_ns) - min(begin_ns) as spread_ns, arg_max(rank, begin_ns) as last_rank, sum(end_ns - begin_ns) as inside_ns,
        max(begin_ns, 2) as lasts, arg_max(bound_ns, begin_ns, 2) as bounds
    from collectives
    group by id
    having members > 1
)
select name, communicator, count(*) as operations, sum(inside_ns) as inside_ns, sum(spread_ns) as spread_ns,
    max(spread_ns) as worst_ns, mode(last_rank) filter (lasts[1] - lasts[2] > bounds[1] + bounds[2]) as last_rank,
    count(*) filter (not lasts[1] - lasts[2] > bounds[1] + bounds[2]) as undecided
from operations
group by name, communicator
order by spread_ns desc, name, communicator;
