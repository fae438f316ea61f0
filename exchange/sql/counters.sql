-- What did each counter show, by rank, thread or group?
select counter, unit, host, "group", rank, thread, count(*) as samples, min(amount) as smallest, avg(amount) as mean,
    max(amount) as largest
from samples
group by all
order by counter, host, "group", rank, thread;
