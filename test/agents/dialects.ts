import type { ServerResponse } from 'node:http';

/** What the model says and which tools it calls; its usage is always 120 input and 15 output tokens. */
export interface Answer {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }[];
}

/** One protocol of a provider. */
export interface Dialect {
  readonly name: 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini';
  write(response: ServerResponse, answer: Answer, body: string): void;
}

const usage = { input: 120, output: 15 };
let idCount = 0;
const id = (kind: string) => `${kind}_stub${(idCount += 1)}`;

/** The protocol of a request, by its path; null if the stub does not know it. */
export function dialectOf(method: string, url: string): Dialect | null {
  const [path = ''] = url.split('?');
  if (method !== 'POST') return null;
  if (path.endsWith('/messages')) return anthropic;
  if (path.endsWith('/responses')) return openaiResponses;
  if (path.endsWith('/chat/completions')) return openaiChat;
  return /:(?:streamGenerate|generate)Content$/.test(path) ? gemini : null;
}

function stream(response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return {
    data: (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`),
    event: (type: string, value: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`),
  };
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

const wantsStream = (body: string) => /"stream":\s*true/.test(body);

const anthropic: Dialect = {
  name: 'anthropic',
  write: (response, { text, calls = [] }, body) => {
    const blocks = [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...calls.map(({ tool, input }) => ({ type: 'tool_use', id: id('toolu'), name: tool, input })),
    ];
    const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
    const tokens = { input_tokens: usage.input, output_tokens: usage.output };
    const { model } = JSON.parse(body) as { model: string };
    const message = {
      id: id('msg'),
      type: 'message',
      role: 'assistant',
      model,
      stop_sequence: null,
      usage: tokens,
    };
    if (!wantsStream(body)) return json(response, { ...message, content: blocks, stop_reason });
    const { event } = stream(response);
    event('message_start', { message: { ...message, content: [], stop_reason: null } });
    for (const [index, block] of blocks.entries()) {
      const isText = 'text' in block;
      event('content_block_start', {
        index,
        content_block: isText ? { ...block, text: '' } : { ...block, input: {} },
      });
      const delta = isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
      event('content_block_delta', { index, delta });
      event('content_block_stop', { index });
    }
    event('message_delta', {
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: usage.output },
    });
    event('message_stop', {});
    response.end();
  },
};

const openaiResponses: Dialect = {
  name: 'openai-responses',
  write: (response, { text, calls = [] }) => {
    const output = [
      ...(text === undefined
        ? []
        : [
            {
              type: 'message',
              id: id('msg'),
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ]),
      ...calls.map(({ tool, input }) => ({
        type: 'function_call',
        id: id('fc'),
        call_id: id('call'),
        name: tool,
        arguments: JSON.stringify(input),
        status: 'completed',
      })),
    ];
    const tokens = {
      input_tokens: usage.input,
      output_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    };
    const whole = { id: id('resp'), object: 'response', status: 'completed', output, usage: tokens };
    const { event } = stream(response);
    event('response.created', { response: { ...whole, status: 'in_progress', output: [], usage: null } });
    for (const [output_index, item] of output.entries()) {
      event('response.output_item.added', { output_index, item });
      event('response.output_item.done', { output_index, item });
    }
    event('response.completed', { response: whole });
    response.end();
  },
};

const openaiChat: Dialect = {
  name: 'openai-chat',
  write: (response, { text, calls = [] }, body) => {
    const tool_calls = calls.map(({ tool, input }, index) => ({
      index,
      id: id('call'),
      type: 'function',
      function: { name: tool, arguments: JSON.stringify(input) },
    }));
    const message = { role: 'assistant', content: text ?? '', ...(calls.length > 0 ? { tool_calls } : {}) };
    const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
    const tokens = {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    };
    const { model } = JSON.parse(body) as { model: string };
    const base = { id: id('chatcmpl'), object: 'chat.completion.chunk', created: 0, model };
    if (!wantsStream(body)) {
      return json(response, {
        ...base,
        object: 'chat.completion',
        choices: [{ index: 0, message: message, finish_reason }],
        usage: tokens,
      });
    }
    const { data } = stream(response);
    data({ ...base, choices: [{ index: 0, delta: message, finish_reason: null }] });
    data({ ...base, choices: [{ index: 0, delta: {}, finish_reason }], usage: tokens });
    response.end('data: [DONE]\n\n');
  },
};

const gemini: Dialect = {
  name: 'gemini',
  write: (response, { text, calls = [] }) => {
    const parts = [
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ tool, input }) => ({ functionCall: { name: tool, args: input } })),
    ];
    const { data } = stream(response);
    data({
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
      },
      modelVersion: 'stub',
    });
    response.end();
  },
};
