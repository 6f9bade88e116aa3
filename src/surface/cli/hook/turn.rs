//! A person asks, an agent has answered, a conversation is about to be compacted: advice, each piece of it once.

use std::path::PathBuf;

use super::{Failure, Hook, apart, start};
use crate::client::Client;
use crate::client::hook::{Answer, Event, Input, words};
use crate::client::state::session::Session;
use crate::client::transcript::{self, Part, Wanted, find};
use crate::economics::{self, Advice, Outlook, Plan, Trigger};
use crate::error::Refusal;
use crate::surface::cli::{economics as surface, now};

/// How much of a transcript is read, in bytes.
const TAIL: u64 = 1024 * 1024;

/// What is remembered of having told the model, and the person, that the cache is cold.
pub(super) const COLD: [&str; 2] = ["cache-expired-model", "cache-expired-person"];

/// What there is to say at the beginning or the end of a turn.
pub(super) fn answer(hook: &Hook<'_>) -> Result<Answer, Failure> {
    let mut said = Vec::new();
    if hook.input.event == Event::Prompt {
        // The start may have been missed: hooks can be set up while a session goes on.
        start::note_process(hook);
        said.extend(late_desktop(hook));
    }
    match advice(hook)? {
        Some(advice) if hook.input.event == Event::Stop => {
            return Ok(Answer { notice: Some(advice), ..Answer::default() });
        }
        advice => said.extend(advice),
    }
    Ok(Answer { context: (!said.is_empty()).then(|| said.join("\n")), ..Answer::default() })
}

/// Advice on money, once for the model and once for the person for each reason.
fn advice(hook: &Hook<'_>) -> Result<Option<String>, Failure> {
    let (Some(state), Some(session_ref)) = (hook.state(), &hook.session_ref) else { return Ok(None) };
    // Copilot reads no answer during a session.
    let is_read = hook.input.client != Client::Copilot;
    let pinned = if is_read && hook.does("advice") { hook.pinned()? } else { None };
    let Some(pinned) = pinned else { return Ok(None) };
    let to_person = hook.input.event == Event::Stop;
    let has_handoff = hook.glance(pinned).found("the database")??.own_handoffs > 0;
    let plan = Plan { has_handoff: Some(has_handoff), ..Plan::default() };
    let Some(Advice { trigger, sentence }) = outlook(hook, plan, to_person)?.and_then(|outlook| outlook.advice) else {
        return Ok(None);
    };
    // Where a handoff of this session waits, nobody needs to be told to write one.
    let is_saved = has_handoff && trigger != Trigger::CacheExpired;
    if is_saved || !state.is_first(session_ref, mark(trigger, to_person)) {
        return Ok(None);
    }
    Ok(Some(match (to_person, trigger) {
        (true, Trigger::PauseAhead) => words::before_a_pause(&sentence),
        (true, _) => words::advice_to_person(&sentence),
        (false, _) => words::advice(&sentence),
    }))
}

/// What is remembered of a piece of advice.
fn mark(trigger: Trigger, to_person: bool) -> &'static str {
    match (trigger, to_person) {
        (Trigger::CacheExpired, false) => COLD[0],
        (Trigger::PauseAhead, false) => "pause-ahead-model",
        (Trigger::CompactionAhead, false) => "compaction-ahead-model",
        (Trigger::StepAhead, false) => "price-step-ahead-model",
        (Trigger::BreakEven, false) => "break-even-model",
        (Trigger::HalfWindow, false) => "half-window-model",
        (Trigger::CacheExpired, true) => COLD[1],
        (Trigger::PauseAhead, true) => "pause-ahead-person",
        (Trigger::CompactionAhead, true) => "compaction-ahead-person",
        (Trigger::StepAhead, true) => "price-step-ahead-person",
        (Trigger::BreakEven, true) => "break-even-person",
        (Trigger::HalfWindow, true) => "half-window-person",
    }
}

/// Where the session stands, by the end of its transcript; `None` where there is none yet, or none that can be read.
/// With `may_pause` it is weighed as before a pause that the cache does not outlive.
fn outlook(hook: &Hook<'_>, plan: Plan, may_pause: bool) -> Result<Option<Outlook>, Failure> {
    let (input, folder) = (hook.input.clone(), hook.config.folder.clone());
    let reckoned = apart::run(hook.until, move || reckon(&input, folder, plan, may_pause));
    reckoned.found("the transcript")?.map_err(Failure::from)
}

/// A session that has just begun has no transcript, and some clients keep no counts.
fn transcript(input: &Input, folder: PathBuf) -> Option<economics::Session> {
    let part = Part::Tail { bytes: TAIL };
    if let Some(path) = &input.transcript {
        return transcript::read(input.client, path, part).ok();
    }
    // OpenCode has all sessions in one place, which it need not name.
    let session = input.session.as_deref().filter(|_| input.client == Client::OpenCode)?;
    let wanted = Wanted { session: Some(session), client: Some(input.client) };
    find(wanted, &surface::environment(folder)).and_then(|found| found.read(part)).ok()
}

fn reckon(input: &Input, folder: PathBuf, plan: Plan, may_pause: bool) -> Result<Option<Outlook>, Refusal> {
    let Some(session) = transcript(input, folder) else { return Ok(None) };
    let prices = surface::prices(None)?;
    let outlook = Outlook::planned(&session, &prices, now(), plan);
    let lifetime = outlook.cache.map(|cache| u64::from(cache.lifetime_seconds));
    let Some(lifetime) = lifetime.filter(|_| may_pause && outlook.advice.is_none()) else { return Ok(Some(outlook)) };
    let plan = Plan { pause_seconds: Some(lifetime + 1), ..plan };
    Ok(Some(Outlook::planned(&session, &prices, now(), plan)))
}

/// The session's id in Claude Desktop, which the app may have written down only after the start.
fn late_desktop(hook: &Hook<'_>) -> Option<String> {
    let (state, session_ref) = (hook.state()?, hook.session_ref.as_ref()?);
    let known = state.session(session_ref).filter(|session| session.desktop.is_none())?;
    let desktop = start::desktop_session(hook)?;
    let session = Session { desktop: Some(desktop.clone()), ..known };
    hook.note_kept("the session", state.keep_session(&session));
    hook.does("start").then(|| words::desktop(session_ref, &desktop))
}

/// What there is to say before a compaction.
pub(super) fn before_compaction(hook: &Hook<'_>) -> Result<Answer, Failure> {
    let (Some(state), Some(session_ref)) = (hook.state(), &hook.session_ref) else { return Ok(Answer::default()) };
    if !hook.does("compaction") || hook.pinned()?.is_none() || !is_worth_it(hook)? {
        return Ok(Answer::default());
    }
    if hook.is_blocking && state.is_first(session_ref, "stopped") {
        return Ok(Answer { block: Some(words::compaction_stopped()), ..Answer::default() });
    }
    let says = !hook.is_blocking && state.is_first(session_ref, "compaction");
    Ok(Answer { notice: says.then(words::compaction), ..Answer::default() })
}

/// Gemini CLI announces a compaction with every turn, whether it comes or not: then it is believed where the context is
/// so large that it may.
fn is_worth_it(hook: &Hook<'_>) -> Result<bool, Failure> {
    if hook.input.client != Client::Gemini || hook.input.is_manual {
        return Ok(true);
    }
    Ok(outlook(hook, Plan::default(), false)?.and_then(|outlook| outlook.advice).is_some())
}
