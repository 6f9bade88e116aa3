// Responses API of OpenAI: https://platform.openai.com/docs/api-reference/responses

import { identifier, sizeOf } from './usage.mjs';

export const responses = {
  name: 'responses',
  takes: (path) => path.endsWith('/responses'),

  read(body) {
    const instructions = body.instructions ? [{ kind: 'system', text: body.instructions }] : [];
    const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
    // Codex puts its tools among the input.
    const tools = [...(body.tools ?? []), ...input.flatMap((one) => (one.type === 'additional_tools' ? one.tools : []))];
    return { conversation: [...instructions, ...input.flatMap(item)], tools: tools.flatMap(offered).flatMap(nested) };
  },

  answer(body, action, usage) {
    const output = action.call ? called(action.call) : said(action.text);
    const response = {
      id: identifier('resp_'),
      object: 'response',
      created_at: Math.floor(Date.now() / 1000),
      status: 'completed',
      model: body.model,
      output: [output],
      usage: reportedUsage(body, usage),
    };
    if (!body.stream) return { json: response };
    return { events: events(response, output) };
  },

  failure: (status) => ({ error: { type: status === 429 ? 'rate_limit_exceeded' : 'server_error', message: 'scripted' } }),
};

function text(content) {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

const KINDS = { developer: 'system', system: 'system', user: 'user', assistant: 'assistant' };

function item(one) {
  if (/_call$/.test(one.type ?? '')) {
    return [{ kind: 'call', name: one.name, text: one.arguments ?? one.input ?? '' }];
  }
  if (/_output$/.test(one.type ?? '')) return [{ kind: 'result', text: outputText(one) }];
  return one.role ? [{ kind: KINDS[one.role], text: text(one.content) }] : [];
}

function outputText({ output, tools }) {
  if (output === undefined) return JSON.stringify(tools);
  return typeof output === 'object' && !Array.isArray(output) ? text(output.content) : text(output);
}

/** A tool that runs JavaScript has other tools inside, which its description declares. */
function nested(tool) {
  if (tool.type !== 'custom' || tool.name !== 'exec') return [tool];
  const names = [...tool.description.matchAll(/declare const tools: \{ (\w+)\(/g)].map(([, name]) => name);
  return [tool, ...names.map((name) => ({ name, type: 'nested' }))];
}

/** A namespace holds the tools of one MCP server. */
function offered(tool) {
  if (tool.type === 'namespace') {
    const namespace = tool.name === 'functions' ? undefined : tool.name;
    return tool.tools.map((inner) => ({ ...inner, namespace, about: tool.description }));
  }
  return [{ ...tool, name: tool.name ?? tool.type }];
}

function called({ name, namespace, type, arguments: given }) {
  const id = { id: identifier('fc_'), call_id: identifier('call_'), status: 'completed' };
  if (type === 'nested') return { type: 'custom_tool_call', ...id, name: 'exec', input: javaScript(`tools.${name}`, given) };
  if (type === 'searched') return { type: 'custom_tool_call', ...id, name: 'exec', input: javaScript(found(name), given) };
  if (type === 'custom') return { type: 'custom_tool_call', ...id, name, input: given.input };
  if (type === 'tool_search') return { type: 'tool_search_call', ...id, execution: 'client', arguments: given };
  const where = namespace ? { namespace } : {};
  return { type: 'function_call', ...id, name, ...where, arguments: JSON.stringify(given) };
}

/** What a model writes that wants to read the answer of an MCP tool, or of the shell. */
function javaScript(tool, given) {
  const call = `const answer = await ${tool}(${JSON.stringify(given)});`;
  return `${call}\ntext(answer.content?.map((part) => part.text).join('\\n') ?? answer.output ?? answer);`;
}

function found(name) {
  return `tools[ALL_TOOLS.find(({ name }) => name.endsWith('__${name}')).name]`;
}

function said(answer) {
  const content = [{ type: 'output_text', text: answer, annotations: [] }];
  return { type: 'message', id: identifier('msg_'), role: 'assistant', status: 'completed', content };
}

function reportedUsage(body, usage) {
  const input_tokens = sizeOf(body);
  const cached_tokens = body.input.length > 4 ? Math.floor(input_tokens * 0.9) : 0;
  return {
    input_tokens,
    input_tokens_details: { cached_tokens },
    output_tokens: 42,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + 42,
    ...usage,
  };
}

function events(response, output) {
  const started = { ...response, status: 'in_progress', output: [], usage: null };
  const added = output.content ? { ...output, content: [] } : output;
  const list = [
    { type: 'response.created', response: started },
    { type: 'response.output_item.added', output_index: 0, item: added },
  ];
  if (output.content) {
    const delta = output.content[0].text;
    list.push({ type: 'response.output_text.delta', item_id: output.id, output_index: 0, content_index: 0, delta });
  }
  list.push({ type: 'response.output_item.done', output_index: 0, item: output });
  list.push({ type: 'response.completed', response });
  return list.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } }));
}
