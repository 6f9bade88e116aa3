//! The pages that agents are served: how to hand over, take over and write safely. Must never differ from the
//! documents of the repository.

/// One page.
pub struct Procedure {
    /// Its name in the address.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Markdown.
    pub text: &'static str,
}

/// How to end a session.
pub static WRITE: Procedure = Procedure {
    name: "write-session-handoff",
    title: "Write a session handoff",
    description: "Put the state of this session into its HeyAira task and answer with the handoff line.",
    text: include_str!("../../../docs/procedures/write-session-handoff.md"),
};

/// How to start from a handoff.
pub static TAKE_OVER: Procedure = Procedure {
    name: "take-over-session",
    title: "Take over a session",
    description: "Continue the work of another session from its handoff line.",
    text: include_str!("../../../docs/procedures/take-over-session.md"),
};

static HANDOFF: Procedure = Procedure {
    name: "session-handoff",
    title: "Session handoff",
    description: "When and how a session hands over to the next one: the whole procedure in short.",
    text: include_str!("../../../docs/procedures/session-handoff.md"),
};

static MUTATIONS: Procedure = Procedure {
    name: "safe-mutations",
    title: "Safe mutations",
    description: "How to write without overwriting: identity, versions, retries, and what each error asks for.",
    text: include_str!("../../../docs/procedures/safe-mutations.md"),
};

static CONTRACT: Procedure = Procedure {
    name: "work-contract",
    title: "Work contract",
    description: "What the states of a task mean, who moves it there, and what done, receipts and memories ask for.",
    text: include_str!("../../../docs/procedures/work-contract.md"),
};

/// All pages, in the order of the list.
pub static ALL: [&Procedure; 5] = [&HANDOFF, &WRITE, &TAKE_OVER, &MUTATIONS, &CONTRACT];
