//! Databases of a given size in a cluster, made once and kept: by the store's own functions, a large one by copies of what
//! these made.

use std::path::Path;

use heyaira::store::backend::Database as Place;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::cluster::{Cluster, said};
use crate::database::Sample;
use crate::generator::{GENERATION, Generator};

/// How many tasks are made one by one; copies are made many times as fast.
const MADE: usize = 50_000;
/// How many ids of tasks are used for random calls.
const SAMPLE: usize = 2_000;

/// A database in a cluster.
pub(crate) struct Template {
    /// Its name.
    pub(crate) name: String,
    /// What calls need to know of it.
    pub(crate) sample: Sample,
}

impl Template {
    /// The database with so many tasks, and so many versions of each or as many as they come with; made now unless an
    /// earlier run left it.
    pub(crate) fn of(cluster: &Cluster, folder: &Path, size: usize, versions: Option<usize>) -> Self {
        let name = format!("bench_{}_{size}_{}", digest(), versions.unwrap_or_default());
        let notes = folder.join(format!("{name}.json"));
        if !notes.exists() {
            cluster.create(&name, "template1");
            let place = Place::of(&cluster.url(&name)).expect("an address");
            let made = size.min(MADE);
            let mut sample = Generator::of(made).run(&place);
            if let Some(versions) = versions {
                grow(cluster, &name, versions);
            }
            if size > made {
                copy(cluster, &name, size / made - 1);
                sample.ids = some_ids(cluster, &name);
            }
            cluster.sql(&name, "vacuum (analyze, freeze)");
            std::fs::write(&notes, sample.to_json()).expect("notes are written");
        }
        let sample = Sample::from_json(&std::fs::read_to_string(&notes).expect("notes"));
        Self { name, sample }
    }
}

/// Adds so many older copies of every task and memory.
fn copy(cluster: &Cluster, name: &str, copies: usize) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/team/copies.sql");
    let arguments = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", &format!("copies={copies}"), "-f", script];
    said(cluster.program("psql").args(arguments).arg(cluster.url(name)).output().expect("psql runs"));
}

/// Ids out of all tasks.
fn some_ids(cluster: &Cluster, name: &str) -> Vec<Uuid> {
    let told = cluster.sql(name, &format!("select task_id from task order by md5(task_id::text) limit {SAMPLE}"));
    told.lines().map(|id| id.parse().expect("an id")).collect()
}

/// Gives each task further versions until it has so many: small changes of the summary, which stays as it is.
fn grow(cluster: &Cluster, name: &str, versions: usize) {
    let grown = format!(
        "insert into task_version (task_id, version, project_id, at, caller, connection, session_ref, harness, act, \
         changed, content) select task_id, number, project_id, updated_at + number, 'maria', 'bench', owner, null, \
         'update', '[\"summary\"]', json_build_object('summary', summary)::text \
         from task, generate_series(version + 1, {versions}) number"
    );
    cluster.sql(name, &grown);
    cluster.sql(name, &format!("update task set version = {versions} where version < {versions}"));
}

fn digest() -> String {
    let schema = include_bytes!("../../migrations/postgres/0001_initial.sql");
    let digest = Sha256::new().chain_update(schema).chain_update(GENERATION).finalize();
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
