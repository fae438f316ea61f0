-- Which functions take the time? Own time is without that of the functions called from there.
with inner_time as (
    select p.place, sum(c.end_ns - c.begin_ns) as ns
    from calls c asof join calls p
        on p.rank = c.rank and p.thread = c.thread and p.depth = c.depth - 1 and p.place <= c.place
    group by p.place
)
select class, name, count(*) as calls, sum(end_ns - begin_ns - coalesce(ns, 0)) as own_ns, sum(end_ns - begin_ns) as ns,
    max(end_ns - begin_ns) as longest_ns
from calls left join inner_time using (place)
where end_ns is not null
group by class, name
order by own_ns desc, class, name;
