import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/clock.js';
import type { Escalation } from '../../src/model/escalation.js';
import { appendEvent } from '../../src/run/event-log.js';
import { writeFailureRecord } from '../../src/run/failure-record.js';
import { moveRunIntoProject, createRunFolder } from '../../src/run/run-folder.js';
import { err, ok } from '../../src/result.js';
import type { TypedAnswer } from '../../src/clients/answer-escalation.js';
import { type PageEscalations, openProjectEscalations } from '../../src/clients/ui/questions.js';
import { startUi, type UiOptions } from '../../src/clients/ui/server.js';
import { createStore } from '../../src/store/create-store.js';
import { openStore } from '../../src/store/open-store.js';
import { aDiagnosed, anEscalation, anEvidence } from '../rig/builders.js';
import { aCauseRecord, shownRun } from '../rig/shown-run.js';
import { sseClient } from '../rig/sse-client.js';
import { tempDir } from '../rig/temp-dir.js';

const token = 'a-token-of-this-test';
const bearer = { authorization: `Bearer ${token}` };
const first = '20261121-071500-000a';
const second = '20261121-071600-000b';
const started = {
  type: 'run.started',
  runId: first,
  project: 'shop',
  playwright: '1.65.0',
  dryRun: false,
  verify: 'full',
} as const;
const ended = {
  type: 'run.ended',
  outcome: 'green',
  exitCode: 0,
  durationMs: 1,
  agentRuns: 0,
  agentRunsAvoided: 0,
  costUsd: null,
  commit: null,
} as const;
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a]);

const nobody: PageEscalations = {
  listPending: async () => ok([]),
  answer: async () => err({ kind: 'usage', message: 'There is no escalation', remedy: 'None.' }),
};

async function serve(projectRoot = tempDir(), escalations = nobody, clock: UiOptions['clock'] = systemClock) {
  const started = await startUi({ projectRoot, port: 0, token, escalations, clock });
  if (!started.ok) throw new Error(started.error.message);
  onTestFinished(() => started.value.close());
  const { origin, host } = new URL(started.value.url);
  const follow = () => sseClient(`${origin}/api/events`, bearer);
  return { projectRoot, origin, host, url: started.value.url, follow, close: () => started.value.close() };
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends a request without `fetch`, which rewrites paths and does not allow a false `Host`. */
async function ask(origin: string, target: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const { hostname, port } = new URL(origin);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ hostname, port, path: target, method, headers }, resolve).on('error', reject).end(body);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

/** The parts of the page in a message, by the ids of the elements that they fill. */
function partsOf(message: { data: string } | undefined): Partial<Record<string, string>> {
  return JSON.parse(message?.data ?? '{}') as Record<string, string>;
}

describe('access to the server', () => {
  it('RP-5 is refused without the token, with a wrong one, and with the right one in the wrong place', async () => {
    const { origin } = await serve();
    const port = new URL(origin).port;
    const screenshot = `/runs/${first}/failures/1/screenshot.png`;
    for (const target of ['/', '/page.css', '/api/events', '/api/escalations', screenshot, '/nothing']) {
      for (const headers of [
        {},
        { authorization: 'Bearer another' },
        { cookie: `self-heal-ui-${port}=another` },
        { cookie: `self-heal-ui-1=${token}` },
      ])
        expect((await ask(origin, target, { headers })).status, target).toBe(401);
      expect((await ask(origin, `${target}?token=another`)).status).toBe(401);
      if (target !== '/') expect((await ask(origin, `${target}?token=${token}`)).status).toBe(401);
    }
  });

  it('RP-5 is on loopback, and needs the token once: it becomes a cookie that scripts cannot read', async () => {
    const { origin, url } = await serve();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=a-token-of-this-test$/);
    const page = await ask(origin, `/?token=${token}`);
    expect(page.status).toBe(200);
    const cookie = page.headers['set-cookie']?.[0] ?? '';
    expect(cookie).toMatch(/; HttpOnly/i);
    expect(cookie).toMatch(/; SameSite=Strict/i);
    const later = await ask(origin, '/page.css', { headers: { cookie: cookie.split(';')[0] ?? '' } });
    expect([later.status, later.headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
  });

  it('RP-5 is refused through a rebound host name, even with the token', async () => {
    const { origin, host } = await serve();
    const port = new URL(origin).port;
    for (const other of [
      `evil.example:${port}`,
      '127.0.0.1',
      `127.0.0.1:1`,
      `127.0.0.1.evil.example:${port}`,
    ]) {
      expect((await ask(origin, '/', { headers: { ...bearer, host: other } })).status).toBe(421);
    }
    for (const ours of [host, `localhost:${port}`]) {
      expect((await ask(origin, '/', { headers: { ...bearer, host: ours } })).status).toBe(200);
    }
  });

  it('RP-5 is refused to other origins, and an answer to a question must name its origin', async () => {
    const given: TypedAnswer[] = [];
    const escalations: PageEscalations = {
      ...nobody,
      answer: async (_, answer) => {
        given.push(answer);
        return ok({ id: 'e1' } as Escalation);
      },
    };
    const { origin } = await serve(tempDir(), escalations);
    const answer = (headers: Record<string, string>) =>
      ask(origin, '/api/escalations/e1', {
        method: 'POST',
        headers: { ...bearer, ...headers },
        body: '{"choice":"skip"}',
      });
    for (const headers of [
      {},
      { origin: 'null' },
      { origin: 'http://127.0.0.1:1' },
      { origin: `https${origin.slice(4)}` },
    ]) {
      expect((await answer(headers as Record<string, string>)).status).toBe(403);
    }
    expect((await ask(origin, '/', { headers: { ...bearer, origin: 'http://evil.example' } })).status).toBe(
      403,
    );
    expect(given).toEqual([]);
    expect((await answer({ origin })).status).toBe(204);
    expect(given).toEqual([{ choice: 'skip' }]);
  });

  it('RP-5 is protected by headers in every response against scripts, frames and referrers', async () => {
    const { origin } = await serve();
    for (const headers of [bearer, {}]) {
      const { headers: got } = await ask(origin, '/', { headers });
      const policy = got['content-security-policy'];
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(got).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
    }
  });
});

describe('the server', () => {
  it('RP-5 serves the screenshot of a failure, and no other file on disk', async () => {
    const { projectRoot, origin } = await serve();
    const { dir } = await shownRun(projectRoot, first);
    const folder = path.join(dir, 'failures', '1');
    await mkdir(path.join(dir, 'failures', '2'), { recursive: true });
    await mkdir(folder);
    await writeFile(path.join(folder, 'screenshot.png'), png);
    await writeFile(path.join(folder, 'context.json'), '{}');
    await writeFile(path.join(projectRoot, 'screenshot.png'), 'not of a run');
    await symlink(
      path.join(projectRoot, 'screenshot.png'),
      path.join(dir, 'failures', '2', 'screenshot.png'),
    );
    const of = (target: string) => ask(origin, target, { headers: bearer });
    const good = await of(`/runs/${first}/failures/1/screenshot.png`);
    expect(good.headers['content-type']).toBe('image/png');
    expect(good.body.equals(png)).toBe(true);
    for (const target of [
      `/runs/${first}/failures/2/screenshot.png`,
      `/runs/${first}/failures/3/screenshot.png`,
      `/runs/${first}/failures/01/screenshot.png`,
      `/runs/${first}/failures/1/context.json`,
      `/runs/${first}/failures/1/constructor`,
      `/runs/latest/failures/1/screenshot.png`,
      `/runs/../../failures/1/screenshot.png`,
      `/runs/${first}/failures/..%2f..%2f..%2f..%2f..%2f./screenshot.png`,
      `/runs/..%2f..%2fruns%2f${first}/failures/1/screenshot.png`,
      `/runs/${first}/failures/1/..%2fcontext.json`,
      '/../package.json',
      '/..%2fserver.ts',
      '/%2e%2e/server.ts',
      '/server.ts',
      '/tsconfig.json',
    ]) {
      expect([target, (await of(target)).status]).toEqual([target, 404]);
    }
  });

  it('RP-5 shows each cause as the report does, with its screenshot by URL, while it is being healed', async () => {
    const { projectRoot, follow } = await serve();
    const { dir, ...run } = await shownRun(projectRoot, first);
    const screenshot = path.join(dir, 'failures', '1', 'screenshot.png');
    await mkdir(path.dirname(screenshot), { recursive: true });
    await writeFailureRecord(path.dirname(screenshot), aDiagnosed({ evidence: anEvidence({ screenshot }) }));
    await writeFile(screenshot, png);
    await run.tell(
      started,
      { type: 'cause.found', cause: aCauseRecord() },
      { type: 'cause.started', causeId: 'c1' },
    );
    const { result } = partsOf(await follow().next());
    expect(result).toContain('class="tag working"');
    expect(result).toContain(`<img src="/runs/${first}/failures/1/screenshot.png"`);
    expect(result).toContain('Error and stack');
  });

  it('RP-5 rejects an invalid answer', async () => {
    const { origin } = await serve();
    const headers = { ...bearer, origin };
    const bodies = [
      '',
      'null',
      '{"choice":"delete"}',
      '{"choice":"skip","more":1}',
      '{"choice":"guide","guidance":5}',
    ];
    for (const body of bodies) {
      const { status } = await ask(origin, '/api/escalations/e1', { method: 'POST', headers, body });
      expect(status, body).toBe(400);
    }
  });

  it('RP-5 reports a store error without its details', async () => {
    const escalations: PageEscalations = {
      ...nobody,
      listPending: async () =>
        err({
          kind: 'store-unusable',
          message: 'It is away',
          remedy: 'Wait.',
          detail: 'postgres://ann@host',
        }),
    };
    const { origin } = await serve(tempDir(), escalations);
    const { status, body } = await ask(origin, '/api/escalations', { headers: bearer });
    expect([status, body.toString()]).toEqual([500, 'It is away. Wait.']);
  });

  it('RP-5 ME-7 stores no answer that chooses a patch if the run to prove it could not start', async () => {
    const project = tempDir();
    await writeFile(path.join(project, 'package.json'), '{ "name": "shop" }');
    vi.spyOn(process, 'cwd').mockReturnValue(project);
    onTestFinished(() => void vi.restoreAllMocks());
    const opened = await openStore('.self-heal/ledger.db', project);
    if (!opened.ok) throw new Error(opened.error.message);
    const store = createStore(opened.value, 'shop', () => Date.now());
    const { id } = (await store.escalate(anEscalation({ choices: ['tests', 'guide'] }), first))!;
    await store.close();
    const escalations = openProjectEscalations({});
    expect(await escalations.answer(id, { choice: 'tests' })).toMatchObject({
      error: { kind: 'playwright-missing' },
    });
    expect(await escalations.listPending()).toMatchObject({ value: [{ id, state: 'pending' }] });
  });
});

describe('the event stream', () => {
  it('RP-5 sends a run’s new state as its events are written, and announces changed questions', async () => {
    const { projectRoot, follow } = await serve();
    const client = follow();
    expect(partsOf(await client.next())['now']).toContain('No run yet');
    const run = await shownRun(projectRoot, first);
    await run.tell(started);
    expect(partsOf(await client.next())).toMatchObject({ project: 'shop', 'run-id': `run ${first}` });
    await run.tell({ type: 'run.warning', message: 'the store is slow' });
    expect(partsOf(await client.next())['result']).toContain('the store is slow');
    await run.tell({ type: 'agent.activity', causeId: 'c1', text: 'reads' });
    expect(partsOf(await client.next())).not.toHaveProperty('result');
    await run.tell({ type: 'agent.escalation_resolved', escalationId: 'e1', choice: 'skip' });
    expect(partsOf(await client.next())).toHaveProperty('now');
    expect((await client.next()).event).toBe('questions');
  });

  it('RP-5 follows a new run when it starts, after all events of the old one', async () => {
    const { projectRoot, follow } = await serve();
    const old = await shownRun(projectRoot, first);
    await old.tell(started);
    const client = follow();
    await client.next();
    await old.tell(ended);
    const young = await shownRun(projectRoot, second);
    await young.tell(started);
    const [end, next] = [partsOf(await client.next()), partsOf(await client.next())];
    expect(end).toMatchObject({
      'run-id': `run ${first}`,
      now: expect.stringContaining('Everything is green'),
    });
    expect(next).toMatchObject({ 'run-id': `run ${second}`, now: expect.stringContaining('Starting') });
  });

  it('RP-5 follows a run that works outside of the project, until it has been moved there', async () => {
    const { projectRoot, follow } = await serve();
    const folder = await createRunFolder(projectRoot, first);
    if (!folder.ok) throw new Error(folder.error.message);
    const { dir } = folder.value;
    appendEvent(dir, started);
    const client = follow();
    expect(partsOf(await client.next())).toMatchObject({ now: expect.stringContaining('Starting') });
    appendEvent(dir, ended);
    await moveRunIntoProject(folder.value);
    expect(partsOf(await client.next())).toMatchObject({
      now: expect.stringContaining('Everything is green'),
    });
  });
});

it('RP-5 a port in use is a problem with a remedy', async () => {
  const { origin } = await serve();
  const port = Number(new URL(origin).port);
  const again = await startUi({
    projectRoot: tempDir(),
    port,
    token,
    escalations: nobody,
    clock: systemClock,
  });
  expect(again).toMatchObject({
    ok: false,
    error: { kind: 'usage', remedy: expect.stringContaining('--port') },
  });
});
