// What the sessions are told, and the script that each model then follows: the job of the procedures, in the calls that
// they name. Texts of the task hold MARK, so that a test sees where stored text appears.

export const MARK = 'stored-text-7c1d';

export const TOOLS = [
  'server_identity',
  'continuity_context',
  'task_list',
  'task_get',
  'task_create',
  'task_update',
  'task_takeover',
  'handoff_check',
  'memory_add',
  'memory_search',
  'message_send',
];

// A model would copy these from what it was told, and so does the script.
const WRITE_CONTEXT = '{{/ledger@[0-9a-f]{8}#\\w+/}}';
const SESSION_REF = "{{/this session's session_ref is (\\S+)\\./}}";
// The owner's, on a line of its own; instructions have an example inside of one.
const LINE = '{{/^handoff: [0-9a-f]{8} v[0-9]+$/}}';

const call = (tool, label, given = {}) => `model> call ${tool} as ${label} ${JSON.stringify(given)}`;

/** What all sessions do first: read the profile of this repository, unless AGENTS.md has it, and ask who answers. */
function begin(way) {
  return [...(way.tellsProfile ? [] : ['model> shell cat heyaira.toml']), call('server_identity', 'identity')];
}

/** Takes over what the line names, up to its first step. */
export function takeOver(way) {
  return [
    ...begin(way),
    call('continuity_context', 'packet', { handoff: LINE }),
    ...claim('packet'),
    'model> shell {{/"handoff_next":"(.*?)\\\\n/}}',
  ];
}

/** Claims the task that an earlier call read. */
function claim(read) {
  const given = { task_id: `{{${read}.task_id}}`, expected_version: `{{${read}.version}}` };
  return [call('task_takeover', 'mine', { ...given, write_context: WRITE_CONTEXT, session_ref: SESSION_REF })];
}

/** Begins a task that nobody had. */
export function beginTask(client, task, way) {
  return [...client.load(['task_get']), ...begin(way), call('task_get', 'task', { task_id: task.slice(0, 8) }), ...claim('task')];
}

/** Hands the task off for a client that comes next; once with a version that is too old. */
export function handOff(client, next) {
  const update = {
    task_id: '{{mine.task_id}}',
    expected_version: '{{mine.version}}',
    write_context: WRITE_CONTEXT,
    summary: `${MARK}: the list of names is kept, the next name is missing.`,
    status: 'in_progress',
    handoff_next: `echo ${next} >> names.txt\nThen hand the task off (decision {{memory.id}}).\nPrevious session: ${SESSION_REF}`,
    handoff_completed_append: `Repository example/ledger, branch main. Prepared: a name in names.txt. Deployed: nothing. ${MARK}`,
    handoff_blockers: '',
    work_receipt: { session_ref: SESSION_REF, branch: 'main', result_commit: 'none', tests: 'none were run' },
  };
  return [
    ...client.load(['memory_add', 'task_update', 'task_get']),
    call('memory_add', 'memory', {
      write_context: WRITE_CONTEXT,
      kind: 'decision',
      summary: `${MARK}: after this one comes ${next}.`,
      task_id: '{{mine.task_id}}',
    }),
    call('task_update', 'refused', { ...update, expected_version: 1 }),
    call('task_update', 'saved', update),
    call('task_get', 'seen', { task_id: '{{mine.task_id}}' }),
    'model> say Saved. {{saved.line}}',
  ];
}

/** Ends the ring. */
export function finish(client) {
  const given = {
    task_id: '{{mine.task_id}}',
    expected_version: '{{mine.version}}',
    write_context: WRITE_CONTEXT,
    summary: 'All names are in the list.',
    status: 'done',
    result: 'names.txt holds every name.',
  };
  return [...client.load(['task_update']), call('task_update', 'done', given), 'model> say Done.'];
}

export function promptOf(words, steps) {
  return [words, ...steps].join('\n');
}
