-- Which receives wait for a message that was sent late? A wait that is not longer than its bound cannot be decided.
with receives as (
    select m.*, c.class, c.name, least(m.sent_ns, m.received_ns) - c.begin_ns as wait_ns
    from messages m asof join calls c
        on c.rank = m.receiver and c.thread = m.receiver_thread and m.place > c.place
    where c.class = 'MPI' and c.end_ns >= m.received_ns
)
select receiver, name, sender, count(*) filter (wait_ns > bound_ns) as waits,
    coalesce(sum(wait_ns) filter (wait_ns > bound_ns), 0) as wait_ns, max(wait_ns) as worst_ns,
    count(*) filter (wait_ns <= bound_ns) as undecided
from receives
where wait_ns > 0
group by receiver, name, sender
order by wait_ns desc, receiver, name, sender;
