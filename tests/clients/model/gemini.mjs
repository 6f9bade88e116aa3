// Gemini API: https://ai.google.dev/api/generate-content

import { identifier, sizeOf } from './usage.mjs';

export const gemini = {
  name: 'gemini',
  takes: (path) => /:(streamGenerateContent|generateContent)$/.test(path),

  read(body) {
    const system = (body.systemInstruction?.parts ?? []).map((part) => ({ kind: 'system', text: part.text ?? '' }));
    const said = (body.contents ?? []).flatMap(({ role, parts = [] }) => parts.flatMap((part) => item(role, part)));
    return { conversation: [...system, ...said], tools: (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []) };
  },

  answer(body, action, usage, path) {
    const part = action.call
      ? { functionCall: { name: action.call.name, args: action.call.arguments } }
      : { text: wantsJson(body) ? plausible(body.generationConfig) : action.text };
    const json = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: reportedUsage(body, usage),
      modelVersion: path.match(/models\/([^:/]+)/)?.[1],
      responseId: identifier('r'),
    };
    return path.includes(':stream') ? { events: [{ data: json }] } : { json };
  },

  failure: (status) => ({ error: { code: status, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL', message: 'scripted' } }),
};

function item(role, part) {
  if (part.functionCall) {
    return [{ kind: 'call', name: part.functionCall.name, text: JSON.stringify(part.functionCall.args ?? {}) }];
  }
  if (part.functionResponse) return [{ kind: 'result', text: resultText(part.functionResponse.response) }];
  if (typeof part.text !== 'string') return [];
  return [{ kind: role === 'model' ? 'assistant' : 'user', text: part.text }];
}

function resultText(response) {
  return response?.output ?? response?.error ?? JSON.stringify(response);
}

function wantsJson({ generationConfig = {} }) {
  return generationConfig.responseMimeType === 'application/json';
}

/** A value of the schema that a question of the client itself (which model, who speaks next) wants. */
function plausible({ responseJsonSchema, responseSchema }) {
  return JSON.stringify(valueOf(responseJsonSchema ?? responseSchema ?? {}));
}

function valueOf({ type = '', enum: choices, properties = {}, items }) {
  if (choices) return choices[0];
  switch (type.toLowerCase()) {
    case 'object':
      return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueOf(schema)]));
    case 'array':
      return items ? [valueOf(items)] : [];
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return false;
    default:
      return 'scripted';
  }
}

function reportedUsage(body, usage) {
  const promptTokenCount = sizeOf(body);
  const cachedContentTokenCount = (body.contents ?? []).length > 2 ? Math.floor(promptTokenCount * 0.9) : 0;
  return {
    promptTokenCount,
    candidatesTokenCount: 42,
    totalTokenCount: promptTokenCount + 42,
    cachedContentTokenCount,
    ...usage,
  };
}
