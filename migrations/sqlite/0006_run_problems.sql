-- How many problems a run's report has. Null where a program took it in that did not count them.
alter table run_report add column problems integer;
