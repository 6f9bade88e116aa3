//! `heyaira doctor`: what a set-up is looked at for. Must never change what is stored.

pub mod clients;
pub mod running;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use serde_json::{Value, json};

use crate::error::{Code, Refusal, Result};
use crate::operation::Service;
use crate::store::backend::{Finding, Health, work};
use crate::store::project;
use crate::surface::cli::{Session, answer, connect, wait};

/// `heyaira doctor`: each check with ok, warning or failed, and what to do.
pub fn doctor(session: &Session, _matches: &ArgMatches) -> Result<ExitCode> {
    let mut findings = Vec::new();
    // They are other programs, so what is wrong with one of them is told and does not make ours fail.
    let clients = clients::examine(session);
    let mut exit = 0;
    match session.config.open(false) {
        Err(refusal) => {
            if let Some(address) = clients::elsewhere(&clients).filter(|_| has_no_database(session)) {
                findings.push(Finding::ok("database", format!("none here; the clients use the server at {address}")));
                findings.extend(unpinned(session));
            } else {
                exit = refusal.code.exit();
                findings.push(Finding::failed("database", refusal.of_owner().to_string()));
            }
        }
        Ok(service) => {
            findings.push(Finding::ok("database", session.config.database.to_string()));
            exit = exit.max(examine(session, &service, &mut findings)?);
        }
    }
    findings.extend(clients.iter().filter_map(clients::Report::finding));
    if session.json {
        let rows: Vec<Value> = findings
            .iter()
            .map(|one| json!({"check": one.check, "state": word(one.state), "told": one.told}))
            .collect();
        let clients: Vec<Value> = clients.iter().map(clients::Report::as_json).collect();
        answer::print(&json!({"healthy": exit == 0, "checks": rows, "clients": clients}), true)?;
    } else {
        let lines = findings.iter().map(|one| format!("{:8} {}: {}\n", word(one.state), one.check, one.told));
        let lines = lines.chain(clients::bystanders(&clients));
        answer::write(&crate::domain::text::visible(&lines.collect::<String>()))?;
    }
    Ok(ExitCode::from(exit))
}

/// True if nobody has named a database, and there is none.
fn has_no_database(session: &Session) -> bool {
    let database = &session.config.database;
    database.file().is_some_and(|file| !file.exists()) && connect::named_file(database).is_none()
}

fn word(state: Health) -> &'static str {
    match state {
        Health::Ok => "ok",
        Health::Warning => "warning",
        Health::Failed => "failed",
    }
}

fn examine(session: &Session, service: &Service, findings: &mut Vec<Finding>) -> Result<u8> {
    findings.extend(service.store.findings()?);
    let failed = findings.iter().any(|one| one.state == Health::Failed);
    let exit = if failed { Code::Unavailable.exit() } else { 0 };
    let problems = service.store.integrity()?;
    if !problems.is_empty() {
        findings.push(Finding::failed("integrity", problems.join("; ")));
        return Ok(Code::Damaged.exit());
    }
    if session.config.database.file().is_some() {
        findings.push(Finding::ok("integrity", "clean".to_owned()));
    }
    match latencies(service) {
        Ok((read, write)) => {
            findings.push(Finding::ok("read", milliseconds(read)));
            findings.push(Finding::ok("durable write", milliseconds(write)));
        }
        // Told beside what may be the reason.
        Err(refusal) => {
            let code = refusal.code.exit();
            findings.push(Finding::failed("durable write", refusal.of_owner().to_string()));
            return Ok(exit.max(code));
        }
    }
    findings.push(pinned(session, service)?);
    Ok(exit)
}

/// How long a read and a write that changes nothing take.
fn latencies(service: &Service) -> Result<(Duration, Duration)> {
    let deadline = Instant::now() + service.deadline;
    let began = Instant::now();
    wait(service.store.read(deadline, work(|transaction| Box::pin(project::instance_id(transaction)))))?;
    let read = began.elapsed();
    let began = Instant::now();
    wait(service.store.write(deadline, work(|transaction| Box::pin(project::touch(transaction)))))?;
    Ok((read, began.elapsed()))
}

fn milliseconds(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1_000.0)
}

/// That calls from here are for no project, told once for all clients.
fn unpinned(session: &Session) -> Option<Finding> {
    let refusal = session.config.pinned().err()?;
    if refusal.code != Code::NoProject {
        return Some(Finding::warning("project", refusal.of_owner().to_string()));
    }
    let told = "no_project: no heyaira.toml is found from here upwards. In the repository: heyaira setup CLIENT --project \
                NAME. For one command: --project NAME.";
    Some(Finding::warning("project", told.to_owned()))
}

/// The project that calls from here are for.
fn pinned(session: &Session, service: &Service) -> Result<Finding> {
    if let Some(finding) = unpinned(session) {
        return Ok(finding);
    }
    let entry = crate::operations::named("server_identity")
        .ok_or_else(|| Refusal::internal(&"server_identity is not listed"))?;
    Ok(match session.ask_of(service, entry, json!({})) {
        Ok(identity) => {
            let told = format!("{} on instance {}", identity["project"], identity["instance"]);
            Finding::ok("project", told.replace('"', ""))
        }
        Err(refusal) => Finding::warning("project", refusal.of_owner().to_string()),
    })
}
