//! What can be asked: one file a noun, and the list that every surface walks.

pub mod budget;
pub mod context;
pub mod cursor;
pub mod glance;
pub mod handoff;
pub mod identity;
pub mod memory;
pub mod message;
pub(crate) mod page;
pub mod project;
pub mod receipt;
pub mod redact;
pub mod resume;
pub mod run;
pub mod task;
pub mod token;

use std::sync::LazyLock;

use crate::operation::Entry;

static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    vec![
        Entry::of::<identity::ServerIdentity>(),
        Entry::of::<context::ContinuityContext>(),
        Entry::of::<task::list::TaskList>(),
        Entry::of::<task::get::TaskGet>(),
        Entry::of::<task::create::TaskCreate>(),
        Entry::of::<task::update::TaskUpdate>(),
        Entry::of::<task::takeover::TaskTakeover>(),
        Entry::of::<handoff::HandoffCheck>(),
        Entry::of::<memory::MemoryAdd>(),
        Entry::of::<memory::MemorySearch>(),
        Entry::of::<message::MessageSend>(),
        Entry::of::<handoff::HandoffLine>(),
        Entry::of::<task::history::TaskHistory>(),
        Entry::of::<task::history::TaskRevert>(),
        Entry::of::<receipt::ReceiptShow>(),
        Entry::of::<receipt::ReceiptRecord>(),
        Entry::of::<run::RunReport>(),
        Entry::of::<run::RunList>(),
        Entry::of::<run::RunShow>(),
        Entry::of::<run::record::RunRecord>(),
        Entry::of::<run::dismiss::RunDismiss>(),
        Entry::of::<project::ProjectCreate>(),
        Entry::of::<project::ProjectList>(),
        Entry::of::<project::ProjectShow>(),
        Entry::of::<project::ProjectSet>(),
        Entry::of::<project::ProjectArchive>(),
        Entry::of::<project::ProjectPurge>(),
        Entry::of::<project::ProfileShow>(),
        Entry::of::<project::ProfileRotate>(),
        Entry::of::<redact::Redact>(),
        Entry::of::<token::TokenCreate>(),
        Entry::of::<token::TokenList>(),
        Entry::of::<token::TokenRevoke>(),
        Entry::of::<token::TokenRotate>(),
    ]
});

/// Every operation: the tools in the order of the contract, then what is for people only.
pub fn all() -> &'static [Entry] {
    &ALL
}

/// The operation of that name.
pub fn named(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
