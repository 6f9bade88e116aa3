// Messages API of Anthropic: https://docs.anthropic.com/en/api/messages

import { identifier, sizeOf } from './usage.mjs';

export const anthropic = {
  name: 'anthropic',
  takes: (path) => path.endsWith('/v1/messages'),

  read(body) {
    const system = blocks(body.system).map((block) => ({ kind: 'system', text: block.text }));
    const said = body.messages.flatMap(({ role, content }) => blocks(content).flatMap((block) => item(role, block)));
    return {
      conversation: [...system, ...said],
      tools: (body.tools ?? []).map(({ name, description, input_schema: parameters }) => ({ name, description, parameters })),
    };
  },

  answer(body, action, usage) {
    const reported = reportedUsage(body, usage);
    const message = {
      id: identifier('msg_'),
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: reported,
    };
    const block = action.call
      ? { type: 'tool_use', id: identifier('toolu_'), name: action.call.name, input: action.call.arguments }
      : { type: 'text', text: action.text };
    const stop_reason = action.call ? 'tool_use' : 'end_turn';
    if (!body.stream) return { json: { ...message, content: [block], stop_reason } };
    return { events: events(message, block, stop_reason, reported) };
  },

  failure: (status) => ({ type: 'error', error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message: 'scripted' } }),
};

function blocks(content) {
  if (content === undefined) return [];
  return Array.isArray(content) ? content : [{ type: 'text', text: content }];
}

function item(role, block) {
  switch (block.type) {
    case 'text':
      return [{ kind: role, text: block.text }];
    case 'tool_use':
      return [{ kind: 'call', name: block.name, arguments: block.input, text: JSON.stringify(block.input) }];
    case 'tool_result':
      return [{ kind: 'result', text: blocks(block.content).map(resultText).join('\n'), failed: block.is_error === true }];
    default:
      return [];
  }
}

function resultText(block) {
  return block.type === 'text' ? block.text : JSON.stringify(block);
}

function reportedUsage(body, usage) {
  const total = sizeOf(body);
  const read = body.messages.length > 1 ? Math.floor(total * 0.9) : 0;
  return {
    input_tokens: 3,
    cache_creation_input_tokens: Math.max(total - read - 3, 0),
    cache_read_input_tokens: read,
    output_tokens: 42,
    ...usage,
  };
}

function events(message, block, stop_reason, usage) {
  const start = block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} };
  const delta =
    block.type === 'text'
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
  const list = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: start },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return list.map((data) => ({ event: data.type, data }));
}
