// Chat Completions API of OpenAI: https://platform.openai.com/docs/api-reference/chat

import { identifier, sizeOf } from './usage.mjs';

export const chat = {
  name: 'chat',
  takes: (path) => path.endsWith('/chat/completions'),

  read(body) {
    return {
      conversation: body.messages.flatMap(items),
      tools: (body.tools ?? []).map((tool) => tool.function ?? tool.custom ?? {}),
    };
  },

  answer(body, action, usage) {
    const base = {
      id: identifier('chatcmpl-'),
      object: body.stream ? 'chat.completion.chunk' : 'chat.completion',
      created: Math.floor(Date.now() / 1000),
      model: body.model,
    };
    const message = action.call
      ? { role: 'assistant', content: null, tool_calls: [called(action.call)] }
      : { role: 'assistant', content: action.text };
    const finish_reason = action.call ? 'tool_calls' : 'stop';
    const counts = reportedUsage(body, usage);
    if (!body.stream) return { json: { ...base, choices: [{ index: 0, message, finish_reason }], usage: counts } };
    const chunks = [
      { ...base, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...base, choices: [{ index: 0, delta: {}, finish_reason }] },
      { ...base, choices: [], usage: counts },
    ];
    return { events: [...chunks.map((data) => ({ data })), { raw: '[DONE]' }] };
  },

  failure: (status) => ({ error: { type: status === 429 ? 'rate_limit_exceeded' : 'server_error', message: 'scripted' } }),
};

function text(content) {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

function items({ role, content, tool_calls: calls = [] }) {
  if (role === 'tool') return [{ kind: 'result', text: text(content) }];
  const kind = role === 'developer' ? 'system' : role;
  const made = calls.map((call) => ({ kind: 'call', name: call.function.name, text: call.function.arguments }));
  return [...(content ? [{ kind, text: text(content) }] : []), ...made];
}

function called({ name, arguments: given }) {
  return { index: 0, id: identifier('call_'), type: 'function', function: { name, arguments: JSON.stringify(given) } };
}

function reportedUsage(body, usage) {
  const prompt_tokens = sizeOf(body);
  const cached_tokens = body.messages.length > 2 ? Math.floor(prompt_tokens * 0.9) : 0;
  return {
    prompt_tokens,
    completion_tokens: 42,
    total_tokens: prompt_tokens + 42,
    prompt_tokens_details: { cached_tokens },
    ...usage,
  };
}
