// Tells HeyAira about the sessions of OpenCode, and these sessions what it answers. It never breaks OpenCode: whatever
// fails is silence, and nothing waits longer than WAIT.

import { spawn, spawnSync } from "node:child_process"

const [PROGRAM, ...WORDS] = ["heyaira", "hook", "opencode"]
const WAIT = 5_000 // milliseconds

const inputOf = (name, session, cwd) => JSON.stringify({ hook_event_name: name, session_id: session, cwd })

/** What `heyaira hook opencode` wants the model to know; nothing if it is not there, is late, or answers anything else. */
function ask(name, session, cwd) {
  return new Promise((resolve) => {
    let answer = ""
    const child = spawn(PROGRAM, WORDS, { cwd, stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill("SIGKILL"), WAIT)
    const end = (context) => {
      clearTimeout(timer)
      resolve(context)
    }
    child.on("error", () => end(undefined))
    child.on("close", () => end(contextIn(answer)))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (answer += data))
    child.stdin.end(inputOf(name, session, cwd))
  }).catch(() => undefined)
}

function contextIn(answer) {
  try {
    const { additionalContext } = JSON.parse(answer)
    return typeof additionalContext === "string" && additionalContext !== "" ? additionalContext : undefined
  } catch {
    return undefined
  }
}

/** A part of a person's message that the model reads and the person does not see. */
function aside(session, message, text) {
  const id = `prt_${Date.now().toString(16)}heyaira`
  return { id, sessionID: session, messageID: message, type: "text", text, synthetic: true }
}

export const HeyAira = async ({ directory }) => {
  // By session: what it is told at its start, for as long as this process serves it.
  const starts = new Map()
  // The sessions of its own agents are no sessions of a person.
  const agents = new Set()
  const begin = (session) => {
    if (agents.has(session)) return undefined
    if (!starts.has(session)) starts.set(session, ask("SessionStart", session, directory))
    return starts.get(session)
  }
  const end = (session) => {
    if (!starts.delete(session)) return
    // At the end of the process nothing can be waited for.
    spawnSync(PROGRAM, WORDS, { cwd: directory, input: inputOf("SessionEnd", session, directory), timeout: WAIT })
  }
  const endAll = () => [...starts.keys()].forEach(end)
  process.once("exit", endAll)

  const events = {
    "session.created": ({ info }) => (info.parentID ? agents.add(info.id) : begin(info.id)),
    "session.deleted": ({ info }) => end(info.id),
    "server.instance.disposed": endAll,
  }

  return {
    event: async ({ event }) => {
      try {
        events[event.type]?.(event.properties)
      } catch {
        // An event that is not as it was known.
      }
    },
    "shell.env": async ({ sessionID }, output) => {
      if (sessionID) output.env.HEYAIRA_SESSION = `opencode:${sessionID}`
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (agents.has(sessionID)) return
      await begin(sessionID)
      const context = await ask("UserPromptSubmit", sessionID, directory)
      if (context) parts.push(aside(sessionID, message.id, context))
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      const context = sessionID && (await begin(sessionID))
      if (context) output.system.push(context)
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const context = agents.has(sessionID) ? undefined : await ask("PreCompact", sessionID, directory)
      if (context) output.context.push(context)
    },
  }
}
