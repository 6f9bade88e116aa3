//! The proof of a move: how many rows a table has, and one digest over all of them, computed alike on every database.
//! Must never look at what was sent, only at what is read back.

use sha2::{Digest, Sha256};
use tokio::runtime::Handle;

use super::table::Table;
use super::{Side, Told, page};
use crate::domain::text::hex;
use crate::error::{Refusal, Result};
use crate::store::backend::Store;
use crate::store::cell::{Cell, Row};

/// What a table holds, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// How many rows.
    pub rows: u64,
    /// SHA-256 over the names of its columns and all rows in the order of the key, in hex.
    pub digest: String,
}

/// The sums of a table in both databases, which are read at the same time.
pub(super) async fn of_both(source: &Store, target: &Store, table: &'static Table, told: &Told) -> Result<(Sum, Sum)> {
    // On a thread of its own each, as a database in a file makes no future wait.
    let begin = |store: &Store, side: Side| {
        let (store, told, handle) = (store.clone(), Told::clone(told), Handle::current());
        tokio::task::spawn_blocking(move || handle.block_on(sum(&store, table, side, &told)))
    };
    let (source, target) = (begin(source, Side::Source), begin(target, Side::Target));
    let source = source.await.map_err(|error| Refusal::internal(&error))?;
    let target = target.await.map_err(|error| Refusal::internal(&error))?;
    Ok((source?, target?))
}

async fn sum(store: &Store, table: &'static Table, side: Side, told: &Told) -> Result<Sum> {
    let mut digest = Sha256::new();
    let mut encoded = Vec::new();
    for column in &table.columns {
        encode_bytes(b't', column.as_bytes(), &mut encoded);
    }
    digest.update(&encoded);
    let (mut rows, mut behind) = (0_u64, None);
    loop {
        let page = page(store, table, behind).await?;
        let Some(last) = page.last() else { break };
        behind = Some(table.key_of(last));
        for row in &page {
            encoded.clear();
            encode(row, &mut encoded);
            digest.update(&encoded);
        }
        rows = rows.saturating_add(page.len() as u64);
        told(&super::Progress { table: table.name, side: Some(side), rows });
    }
    let digest = hex(&digest.finalize());
    Ok(Sum { rows, digest })
}

/// Each value with its type and length in front, so that no two different rows are written alike.
fn encode(row: &Row, into: &mut Vec<u8>) {
    for cell in &row.0 {
        match cell {
            Cell::Null => encode_bytes(b'n', &[], into),
            Cell::Integer(value) => encode_bytes(b'i', &value.to_be_bytes(), into),
            Cell::Text(text) => encode_bytes(b't', text.as_bytes(), into),
            Cell::Bytes(bytes) => encode_bytes(b'b', bytes, into),
        }
    }
}

fn encode_bytes(kind: u8, bytes: &[u8], into: &mut Vec<u8>) {
    into.push(kind);
    into.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    into.extend_from_slice(bytes);
}
