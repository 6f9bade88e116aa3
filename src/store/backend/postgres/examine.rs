//! What a server is and how it is set up, for `doctor`. Must never change anything.

use std::collections::HashMap;

use tokio_postgres::{Error, Row};

use crate::store::backend::Finding;
use crate::store::backend::postgres::pool::Client;

/// The oldest version that this program is tested with.
const OLDEST: u32 = 150_000;

/// The settings that are looked at. What a session of ours starts with is `reset_val`.
const SETTINGS: &str = "select name, coalesce(reset_val, setting) from pg_settings where name in \
    ('server_version', 'server_version_num', 'synchronous_commit', 'fsync', 'full_page_writes', 'max_connections', \
    'synchronous_standby_names', 'server_encoding', 'superuser_reserved_connections')";
const STATE: &str = "select pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', \
    (select max(number) from migration)";
/// A user who may not look is shown rows without a state.
const STANDBYS: &str = "select coalesce(application_name, ''), coalesce(state, ''), coalesce(sync_state, '') \
    from pg_stat_replication order by 1";
const ENCRYPTION: &str = "select ssl, coalesce(version, ''), coalesce(cipher, '') from pg_stat_ssl \
    where pid = pg_backend_pid()";

/// All findings; `connections` is how many this program has at most.
pub(super) async fn findings(client: &Client, connections: usize) -> Result<Vec<Finding>, Error> {
    let text = |row: &Row, column: usize| row.try_get::<_, String>(column);
    let mut settings = HashMap::new();
    for row in client.query(SETTINGS, &[]).await? {
        settings.insert(text(&row, 0)?, text(&row, 1)?);
    }
    let state = client.query_one(STATE, &[]).await?;
    let is_standby = state.try_get(0)?;
    let mut standbys = Vec::new();
    for row in client.query(STANDBYS, &[]).await? {
        standbys.push([text(&row, 0)?, text(&row, 1)?, text(&row, 2)?]);
    }
    let encryption = client.query_opt(ENCRYPTION, &[]).await?;
    let settings = Settings(settings);
    let mut found = vec![
        settings.version(),
        Finding::ok("schema", state.try_get::<_, i64>(2)?.to_string()),
        writes(is_standby, state.try_get(1)?),
        settings.encoding(),
        settings.synchronous_commit(),
        settings.must_be_on("fsync", "a crash of the machine can lose or destroy what was acknowledged"),
        settings.must_be_on("full_page_writes", "a crash of the machine can destroy pages that were half written"),
        if is_standby { standing_by() } else { settings.standbys(&standbys) },
        settings.connections(connections),
    ];
    found.push(match encryption {
        Some(row) if row.try_get(0)? => Finding::ok("encryption", format!("{} {}", text(&row, 1)?, text(&row, 2)?)),
        _ => Finding::ok("encryption", "none, as is right on one machine or a way that is yours alone".to_owned()),
    });
    Ok(found)
}

fn writes(is_standby: bool, is_read_only: bool) -> Finding {
    let told = match (is_standby, is_read_only) {
        (true, _) => {
            "none is taken: this is a standby. Name the primary, or all servers with target_session_attrs=read-write"
        }
        (false, true) => {
            "none is taken: default_transaction_read_only is on for the server, the database or this user. Switch it off, \
             or name another database"
        }
        (false, false) => return Finding::ok("writes", "taken".to_owned()),
    };
    Finding::failed("writes", told.to_owned())
}

/// A standby says nothing of who stands by.
fn standing_by() -> Finding {
    Finding::ok("standby", "this is one; whether writes wait for it is told by doctor on the primary".to_owned())
}

struct Settings(HashMap<String, String>);

impl Settings {
    fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("unknown", String::as_str)
    }

    fn number(&self, name: &str) -> u32 {
        self.get(name).parse().unwrap_or(0)
    }

    fn version(&self) -> Finding {
        let version = self.get("server_version").to_owned();
        if self.number("server_version_num") < OLDEST {
            return Finding::failed("postgresql", format!("{version}: HeyAira needs 15 or later, update the server"));
        }
        Finding::ok("postgresql", version)
    }

    fn encoding(&self) -> Finding {
        match self.get("server_encoding") {
            "UTF8" => Finding::ok("encoding", "UTF8".to_owned()),
            other => {
                let told =
                    format!("{other}: texts of most languages do not fit. Make the database anew with encoding UTF8");
                Finding::failed("encoding", told)
            }
        }
    }

    fn synchronous_commit(&self) -> Finding {
        match self.get("synchronous_commit") {
            "off" => Finding::warning(
                "synchronous_commit",
                "off: HeyAira switches it on for its own connections. Switch it on in the server as well".to_owned(),
            ),
            value @ ("local" | "remote_write") if !self.get("synchronous_standby_names").is_empty() => {
                let told = format!(
                    "{value}: a write is acknowledged before the standby has it on its disk, and a lost primary loses it. \
                     Set it to on"
                );
                Finding::warning("synchronous_commit", told)
            }
            value => Finding::ok("synchronous_commit", value.to_owned()),
        }
    }

    fn must_be_on(&self, name: &'static str, why: &str) -> Finding {
        match self.get(name) {
            "on" => Finding::ok(name, "on".to_owned()),
            value => Finding::failed(name, format!("{value}: {why}. Set it to on in postgresql.conf")),
        }
    }

    fn standbys(&self, standbys: &[[String; 3]]) -> Finding {
        let names = self.get("synchronous_standby_names");
        let shown: Vec<String> =
            standbys.iter().map(|[name, state, sync]| format!("{name} {state} {sync}").trim().to_owned()).collect();
        let shown = if shown.is_empty() { "none is connected".to_owned() } else { shown.join(", ") };
        if names.is_empty() {
            let told = format!(
                "{shown}; synchronous_standby_names is empty: losing the primary loses the newest writes. Set up a \
                 standby and name it there"
            );
            return Finding::warning("standby", told);
        }
        if standbys.iter().any(|[_, state, _]| state.is_empty()) {
            let told = format!("{names} is waited for; this user may not see more: grant it pg_monitor");
            return Finding::warning("standby", told);
        }
        let holds = |[_, state, sync]: &[String; 3]| state == "streaming" && (sync == "sync" || sync == "quorum");
        if standbys.iter().any(holds) {
            return Finding::ok("standby", shown);
        }
        let told = format!("{shown}; {names} is waited for, so that no write is acknowledged: start the standby");
        Finding::failed("standby", told)
    }

    fn connections(&self, ours: usize) -> Finding {
        let most = self.number("max_connections").saturating_sub(self.number("superuser_reserved_connections"));
        let told = format!("{ours} for each server that serves, of {most} that the database server has");
        // One more listens, and another server may be up while one is exchanged.
        if (ours + 1) * 2 > most as usize {
            let told =
                format!("{told}: two servers do not fit. Raise max_connections, or lower --database-connections");
            return Finding::warning("connections", told);
        }
        Finding::ok("connections", told)
    }
}
