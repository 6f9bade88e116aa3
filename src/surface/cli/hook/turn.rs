//! A person asks, an agent has answered, a conversation is about to be compacted: advice, each piece of it once.

use super::{Failure, Hook, start};
use crate::client::Client;
use crate::client::hook::{Answer, Event, words};

/// What there is to say at the beginning or the end of a turn.
#[expect(clippy::unnecessary_wraps, reason = "all events have one form")]
pub(super) fn answer(hook: &Hook<'_>) -> Result<Answer, Failure> {
    if hook.input.event == Event::Prompt {
        // The start may have been missed: hooks can be set up while a session goes on.
        start::note_process(hook);
    }
    Ok(Answer::default())
}

/// What there is to say before a compaction.
pub(super) fn before_compaction(hook: &Hook<'_>) -> Result<Answer, Failure> {
    let (Some(state), Some(session_ref)) = (hook.state(), &hook.session_ref) else { return Ok(Answer::default()) };
    if !hook.does("compaction") || hook.pinned()?.is_none() {
        return Ok(Answer::default());
    }
    // Gemini CLI says so at every turn, whether it compacts or not.
    if hook.input.client == Client::Gemini && !hook.input.is_manual {
        return Ok(Answer::default());
    }
    if hook.is_blocking && state.is_first(session_ref, "stopped") {
        return Ok(Answer { block: Some(words::compaction_stopped()), ..Answer::default() });
    }
    let says = !hook.is_blocking && state.is_first(session_ref, "compaction");
    Ok(Answer { notice: says.then(words::compaction), ..Answer::default() })
}
