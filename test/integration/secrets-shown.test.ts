import path from 'node:path';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { listEscalations, runResolve, showEscalation } from '../../src/cli/escalations.js';
import { drawProgress } from '../../src/clients/ui/event-stream.js';
import { openProjectEscalations } from '../../src/clients/ui/questions.js';
import { runInspect } from '../../src/cli/inspect.js';
import { runReport } from '../../src/cli/report.js';
import { systemClock } from '../../src/clock.js';
import { loadSettings } from '../../src/config/load-settings.js';
import { listFailures } from '../../src/clients/inspect/find-failure.js';
import { parseEvent } from '../../src/event.js';
import { replayRun } from '../../src/run/run-state.js';
import { findRun } from '../../src/run/find-run.js';
import { readPrompt } from '../../src/clients/inspect/read-prompt.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { startUi } from '../../src/clients/ui/server.js';
import { leaksOf, plants as allPlants, variables } from '../rig/secrets/plants.js';
import { runThatSays } from '../rig/secrets/run-that-says.js';
import { tempDir } from '../rig/temp-dir.js';
import { sseClient } from '../rig/sse-client.js';

/** Some secrets of every set and kind, few enough that no channel cuts its text. */
const plants = allPlants.filter(({ text }, at) => text.length < 3000 && at % 17 === 0);
const texts = plants.map(({ text }) => text).join('\n\n');
const token = 'a-token-of-this-test';
const bearer = { authorization: `Bearer ${token}` };

const folders = {
  root: realpathSync(mkdtempSync(path.join(tmpdir(), 'shown '))),
  copy: realpathSync(mkdtempSync(path.join(tmpdir(), 'copy '))),
};
afterAll(() => {
  for (const folder of Object.values(folders))
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

let run: Awaited<ReturnType<typeof runThatSays>>;
beforeAll(async () => {
  run = await runThatSays((channel) => `in-${channel}\n${texts}\n`, variables, folders);
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  vi.spyOn(process, 'cwd').mockReturnValue(run.root);
});

/** What a command prints in the run's project, and its problem if it returns one. */
async function printed(command: () => Promise<unknown>): Promise<string> {
  const out: string[] = [];
  const write = (text: unknown) => out.push(String(text)) > 0;
  const spies = [process.stdout, process.stderr].map((one) =>
    vi.spyOn(one, 'write').mockImplementation(write),
  );
  try {
    const end = await command();
    return `${out.join('')}${typeof end === 'number' ? '' : JSON.stringify(end)}`;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

async function served(use: (origin: string) => Promise<string>): Promise<string> {
  const escalations = openProjectEscalations({});
  const started = await startUi({ projectRoot: run.root, port: 0, token, escalations, clock: systemClock });
  if (!started.ok) throw new Error(started.error.message);
  try {
    return await use(new URL(started.value.url).origin);
  } finally {
    await started.value.close();
  }
}

const get = (target: string) =>
  served(async (origin) => {
    const response = await fetch(`${origin}${target}`, { headers: bearer });
    return `${JSON.stringify([...response.headers])}\n${await response.text()}`;
  });

async function eventStream(origin: string): Promise<string> {
  const client = sseClient(`${origin}/api/events`, bearer);
  const { data } = await client.next();
  client.close();
  return Object.values(JSON.parse(data) as Record<string, string>).join('\n');
}

/** What the live page showed after each event. */
async function whileItRan(): Promise<string> {
  const lines = readFileSync(path.join(run.dir, 'events.ndjson'), 'utf8').split('\n');
  const events = lines.flatMap((line) => parseEvent(line) ?? []);
  return events.map((_, at) => drawProgress(replayRun(events.slice(0, at + 1)))['now']).join('\n');
}

async function questionId(): Promise<string> {
  const open = await openProjectEscalations({}).listPending();
  return (open.ok && open.value[0]?.id) || 'none';
}

/** The prompt for a failure for which no agent was started. */
async function promptNotSent(): Promise<string> {
  const [stored, settings] = [
    await findRun(run.root, null),
    await loadSettings({ cwd: run.root, env: process.env }),
  ];
  if (!stored.ok || !settings.ok) throw new Error('the run cannot be read');
  const [one] = listFailures(stored.value);
  if (!one) throw new Error('nothing failed');
  const request = { run: stored.value, attempt: null, settings: settings.value, projectRoot: run.root };
  const redactor = await createRedactor({ env: process.env, projectRoot: run.root });
  const found = await readPrompt({ ...request, redactor, inspected: { ...one, cause: null } });
  return found.ok ? found.value.text : '';
}

/** Everything that shows a run, each with a channel whose text it shows. */
const shown: readonly (readonly [name: string, channel: string, show: () => Promise<string>])[] = [
  ['inspect', 'in-title', () => printed(() => runInspect(undefined, undefined, {}))],
  ['inspect --json', 'in-server', () => printed(() => runInspect(undefined, undefined, { json: true }))],
  ['inspect 1', 'in-message', () => printed(() => runInspect('1', undefined, {}))],
  ['inspect 1 --json', 'in-request-body', () => printed(() => runInspect('1', undefined, { json: true }))],
  ['inspect 1 --prompt', 'in-title', () => printed(() => runInspect('1', undefined, { prompt: true }))],
  [
    'inspect with a word that matches nothing',
    'in-title',
    () => printed(() => runInspect('nothing', undefined, {})),
  ],
  ['a prompt that was not sent', 'in-message', promptNotSent],
  ['escalations list', 'in-question', () => printed(() => listEscalations({}))],
  ['escalations list --json', 'in-recommendation', () => printed(() => listEscalations({ json: true }))],
  [
    'escalations show',
    'in-question-tried',
    () => printed(async () => showEscalation(await questionId(), { json: true })),
  ],
  ['GET /', 'self-heal', () => get('/')],
  ['GET /api/escalations', 'in-question', () => get('/api/escalations')],
  ['GET /api/events', 'in-reason', () => served(eventStream)],
  ['the page while the run went on', 'in-progress', whileItRan],
  [
    'annotations of GitHub',
    'in-reason',
    async () =>
      run.terminal
        .split('\n')
        .filter((line) => line.startsWith('::'))
        .join('\n'),
  ],
  ['outputs of GitHub', 'outcome', async () => readFileSync(path.join(run.dir, 'step-output'), 'utf8')],
  [
    'the summary of GitHub',
    'in-reason',
    async () => readFileSync(path.join(run.dir, 'step-summary.md'), 'utf8'),
  ],
];

describe('views of a run', () => {
  it.each(shown)('EV-9 %s shows no planted secret', async (_, channel, show) => {
    const text = await show();
    expect(text).toContain(channel);
    expect(leaksOf(plants, text)).toEqual([]);
  });

  it('EV-9 stores and shows no secret from a typed or sent answer', async () => {
    const guidance = `in-answer\n${texts}`;
    const question = await questionId();
    const sent = await served(async (origin) => {
      const headers = { ...bearer, origin, 'content-type': 'application/json' };
      const body = JSON.stringify({ choice: 'guide', guidance: guidance.slice(0, 19_000) });
      const target = `${origin}/api/escalations/${question}`;
      const answered = await fetch(target, { method: 'POST', headers, body });
      return `${await answered.text()}\n${await printed(() => listEscalations({ all: true, json: true }))}`;
    });
    const typed = await printed(() => runResolve(question, { choice: 'guide', guidance }));
    const kept = await printed(() => listEscalations({ all: true, json: true }));
    for (const text of [sent, kept]) expect(text).toContain('in-answer');
    expect(leaksOf(plants, `${sent}\n${typed}\n${kept}`)).toEqual([]);
  });

  it('EV-9 masks a run from another machine again, with the secrets of this machine', async () => {
    const values = Object.entries(variables).map(([kind, value]) => ({ kind, value }));
    const foreign = await runThatSays(
      (channel) => `in-${channel}\n${values.map(({ value }) => `it is ${value}.`).join('\n')}\n`,
      {},
      { root: tempDir('foreign'), copy: tempDir('copy') },
    );
    expect(leaksOf(values, readFileSync(path.join(foreign.dir, 'report.html'), 'utf8'))).toHaveLength(
      values.length,
    );
    const place = vi.spyOn(process, 'cwd').mockReturnValue(foreign.root);
    try {
      const said = [
        await printed(() => runInspect('1', undefined, { json: true })),
        await printed(() => runInspect('1', undefined, { prompt: true })),
        await printed(() => runReport(undefined, {})),
        readFileSync(path.join(foreign.dir, 'report.html'), 'utf8'),
      ];
      for (const text of said) {
        expect(text).toContain('masked: value of SHOP_DB_PASSWORD');
        expect(leaksOf(values, text)).toEqual([]);
      }
    } finally {
      place.mockReturnValue(run.root);
    }
  });
});
