import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { dialectOf, type Answer, type Dialect } from './dialects.js';

/** What the stub does with a request from the agent: answer as the model, refuse, drop the connection, or never answer. */
export type Step = Answer | { readonly status: number; readonly body?: unknown } | 'drop' | 'hang';

/** One request as it arrived. */
export interface SeenRequest {
  readonly dialect: Dialect['name'];
  readonly body: string;
  /** Whether it offers tools. Requests for a title or a summary offer none. */
  readonly isMain: boolean;
}

/** A scripted model provider on loopback that speaks the four protocols of the coding agents. */
export interface StubApi extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
}

/** Starts the stub; each main request takes the next step, and the last step repeats. */
export async function startStubApi(
  script: readonly Step[] | ((request: string) => readonly Step[]),
): Promise<StubApi> {
  const requests: SeenRequest[] = [];
  let stepsTaken = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await textOf(request);
    const dialect = dialectOf(request.method ?? '', request.url ?? '');
    if (!dialect) return void response.writeHead(404).end('{"error":{"message":"stub: no such path"}}');
    const steps = typeof script === 'function' ? script(body) : script;
    const isMain = /"tools":\s*\[\s*\{/.test(body);
    requests.push({ dialect: dialect.name, body, isMain });
    const next = steps[Math.min(stepsTaken, steps.length - 1)];
    if (isMain) stepsTaken += 1;
    // A provider that refuses the main request refuses the others, too.
    const isRefusal = typeof next === 'object' && 'status' in next;
    const step = isMain || isRefusal ? next : { text: 'A title' };
    if (step === undefined || step === 'drop') return void request.socket.destroy();
    if (step === 'hang') return;
    if (!('status' in step)) return dialect.write(response, step, body);
    const refusal = step.body ?? { type: 'error', error: { type: 'error', message: `stub ${step.status}` } };
    response.writeHead(step.status, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
