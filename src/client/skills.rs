//! The two skills, as clients read them. Must never say more than the procedures of the documents do.

use crate::client::skills::Procedure::{TakeOver, Write};

#[derive(Clone, Copy, Debug)]
enum Procedure {
    Write,
    TakeOver,
}

/// A skill: a folder of its name with one file.
#[derive(Clone, Copy, Debug)]
pub struct Skill {
    /// Its name, which is its folder's.
    pub name: &'static str,
    procedure: Procedure,
}

/// Both.
pub const ALL: [Skill; 2] = [
    Skill { name: "write-session-handoff", procedure: Write },
    Skill { name: "take-over-session", procedure: TakeOver },
];

impl Skill {
    /// The whole file.
    pub fn text(&self) -> String {
        let (description, body) = match self.procedure {
            Write => (
                "Put the state of this session into its HeyAira task and answer with the handoff line. Use when asked to hand \
                 off, or when the task is done, the topic changes or the day ends.",
                include_str!("../../docs/procedures/write-session-handoff.md"),
            ),
            TakeOver => (
                "Continue the work of another session from its handoff line, such as handoff: 8e287857 v7.",
                include_str!("../../docs/procedures/take-over-session.md"),
            ),
        };
        format!("---\nname: {}\ndescription: \"{description}\"\n---\n\n{body}", self.name)
    }
}

/// The plugin by which `OpenCode` calls hooks, if there is one.
pub fn opencode_plugin(_command: &str) -> Option<String> {
    None
}
