//! The schema as `PostgreSQL` tells it: its catalogs.

use super::condition;
use crate::database::TestDatabase;

/// Every sentence comes from one query: a table, then a sentence about it in which `?` stands for a condition.
const QUERIES: [&str; 5] = [
    // Tables, and their columns in order.
    "select c.relname || ' is a table', null from pg_class c
     where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
     union all
     select c.relname || ' has the columns ' || string_agg(a.attname, ', ' order by a.attnum), null
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace group by c.relname",
    // Columns: types with collation, nulls, defaults, numbering.
    "select c.relname || '.' || a.attname || ' is ' || told.sentence, null
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     left join pg_collation l on l.oid = a.attcollation
     left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     cross join lateral (values
        (case when a.atttypid = 'bigint'::regtype then 'a whole number'
              when a.atttypid = 'text'::regtype and l.collname = 'C' then 'text'
              when a.atttypid = 'text'::regtype then 'text in the order of ' || l.collname
              when a.atttypid in ('bytea'::regtype, 'uuid'::regtype) then 'bytes'
              else format_type(a.atttypid, a.atttypmod) end),
        (case when a.attnotnull then 'never null' end),
        (replace(pg_get_expr(d.adbin, d.adrelid), '::text', '') || ' by default'),
        (case when a.attidentity = 'd' then 'numbered by the database'
              when a.attidentity <> '' then 'numbered by the database always' end)) told (sentence)
     where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace and told.sentence is not null",
    // Primary keys, unique constraints, checks.
    "select c.relname || case k.contype when 'p' then ' has the primary key ' when 'u' then ' has one row at most for each '
        else ' checks ?' end
        || case when k.contype = 'c' then '' else (select string_agg(a.attname, ', ' order by n.place)
           from unnest(k.conkey) with ordinality n (number, place)
           join pg_attribute a on a.attrelid = c.oid and a.attnum = n.number) end,
        case when k.contype = 'c' then substr(pg_get_constraintdef(k.oid), 6) end
     from pg_constraint k join pg_class c on c.oid = k.conrelid
     where k.contype in ('p', 'u', 'c') and c.relnamespace = current_schema()::regnamespace",
    // Foreign keys of one column.
    "select c.relname || '.' || a.attname || ' is one of ' || f.relname || '.' || b.attname
        || case when k.confdeltype = 'c' then ' and goes with it' else '' end, null
     from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class f on f.oid = k.confrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
     join pg_attribute b on b.attrelid = f.oid and b.attnum = k.confkey[1]
     where k.contype = 'f' and c.relnamespace = current_schema()::regnamespace",
    // Indexes that stand for themselves.
    "select c.relname || ' has the ' || case when i.indisunique then 'unique ' else '' end || 'index ' || x.relname || ' on '
        || (select string_agg(pg_get_indexdef(i.indexrelid, n.place::int, true)
              || case when i.indoption[n.place - 1] & 1 = 1 then ' desc' else '' end, ', ' order by n.place)
            from generate_series(1, i.indnkeyatts) n (place))
        || case when i.indpred is null then '' else ' where ?' end,
        pg_get_expr(i.indpred, i.indrelid)
     from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
     where c.relnamespace = current_schema()::regnamespace
     and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))",
];

/// Everything that the schema says.
pub(super) fn sentences(database: &TestDatabase) -> Vec<String> {
    let rows = QUERIES.into_iter().flat_map(|sql| database.texts(sql));
    rows.map(|row| match &row[..] {
        [Some(sentence), None] => sentence.clone(),
        [Some(sentence), Some(told)] => sentence.replacen('?', &condition(told), 1),
        other => panic!("no sentence: {other:?}"),
    })
    .collect()
}
