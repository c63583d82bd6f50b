import path from 'node:path';
import { mkdir, writeFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { Chalk } from 'chalk';
import { createRunAgent } from '../../../src/agents/create-run-agent.js';
import { createBus } from '../../../src/run/bus.js';
import { createReport } from '../../../src/run/report.js';
import { openRunStore } from '../../../src/command/compose-session.js';
import { groupIntoCauses } from '../../../src/diagnose/group.js';
import type { Attempt } from '../../../src/model/attempt.js';
import { prepareAgent } from '../../../src/heal/attempt/attempt.js';
import { startTrial } from '../../../src/heal/attempt/trial.js';
import { createDiagnose, writeFailure } from '../../../src/command/diagnose.js';
import { unpackTrace } from '../../../src/command/unpack-trace.js';
import { writeHtmlReport } from '../../../src/outputs/html/page.js';
import { createEventsWriter } from '../../../src/run/event-log.js';
import { writeReports } from '../../../src/outputs/write-reports.js';
import { renderSummary } from '../../../src/outputs/summary.js';
import { createTerminalReporter } from '../../../src/outputs/terminal.js';
import { moveRunIntoProject, createRunFolder } from '../../../src/run/run-folder.js';
import { maskSuiteFolder } from '../../../src/run/mask-suite-folder.js';
import { createRedactor } from '../../../src/secrets/redactor.js';
import { noStore } from '../../../src/store/warning-store.js';
import type { Session } from '../../../src/heal/session.js';
import { openContentStore } from '../../../src/workspace/change.js';
import { createRunPlan } from '../../../src/run/run-plan.js';
import { createSpending } from '../../../src/run/spending.js';
import { summarizeCause } from '../../../src/heal/progress.js';
import { unedited } from '../healing-session.js';
import { Observations } from '../../../src/heal/observations.js';
import { announceTests } from '../../../src/heal/announce-tests.js';
import {
  aConsoleEntry,
  aRequest,
  aRun,
  aTestFailure,
  anError,
  startedAt,
} from '../../unit/evidence/rig/failures.js';
import { writeTrace } from '../../unit/evidence/rig/write-trace.js';
import { aResult, someSettings, anEnd } from '../builders.js';
import { plantIn, variables } from './plants.js';
import { tempDir } from '../temp-dir.js';
import { virtualClock } from '../virtual-clock.js';

const paint = new Chalk({ level: 0 });

/** The run's id. */
const runId = '20261122-100000-00aa';

/** Says something that carries the secret, and where it is said. */
export type Say = (channel: string) => string;

/** Everything that a run with one failing test writes, with the same text in every channel, by the functions that write it. */
export async function runThatSays(
  say: Say,
  env: Record<string, string> = variables,
  { root, copy } = { root: tempDir('a run'), copy: tempDir('copy') },
) {
  await plantIn(root);
  const store = path.join('.self-heal', 'runs', runId, 'ledger.db');
  await writeFile(path.join(root, 'agents.yaml'), `version: 1\nproject: shop\nstore: ${store}\n`);
  const folder = await createRunFolder(root, runId);
  if (!folder.ok) throw new Error(folder.error.message);
  const suite = path.join(folder.value.dir, 'suites', '1');
  await mkdir(suite, { recursive: true });
  const { failure, run } = await failingRun(suite, say);
  const redactor = await createRedactor({ env, projectRoot: root });
  await maskSuiteFolder(suite, { isRed: true, redactor });
  const screen = new PassThrough();
  const terminal = createTerminalReporter({ stream: screen, paint, isLive: false, now: () => 0 });
  const events = createEventsWriter(folder.value.dir);
  const bus = createBus([events, terminal], virtualClock(), redactor);
  const agent = `process.stdin.on('data', (part) => process.stdout.write(part)).on('end', () => {
    process.stdout.write(${JSON.stringify(`${say('agent')}\n`)});
    process.stderr.write(${JSON.stringify(`${say('agent-errors')}\n`)});
    console.log('SELF-HEAL: ' + JSON.stringify({ status: 'fixed', summary: ${JSON.stringify(say('claim'))} }));
  })`;
  const settings = someSettings({
    runners: { fixer: { kind: 'command', command: [process.execPath, '-e', agent], prompt: 'stdin' } },
  });
  const session: Session = {
    settings,
    cwd: root,
    clock: virtualClock(),
    bus,
    redactor,
    observations: new Observations({ listApplied: () => [] }),
    testFiles: unedited,
    store: noStore,
    isTest: () => false,
    hooks: {},
    folder: folder.value,
    signal: new AbortController().signal,
    workspace: {
      root,
      prepare: async () => undefined,
      hasCopy: () => true,
      updateCopy: async () => ({
        cwd: copy,
        folder: copy,
        toCopyPaths: (text) => text.replaceAll(root, copy),
        toProjectPaths: (text) => text.replaceAll(copy, root),
        edited: new Set(),
      }),
      updateCleanCopy: () => Promise.reject(new Error('there is no clean copy')),
      listChangedOutsideGit: async () => [],
      collectChanges: async (id) => {
        const contents = openContentStore(folder.value.dir);
        const hash = await contents.put(Buffer.from(`${say('patch')}\n`));
        const edits = [{ path: '.env', before: null, after: { kind: 'file' as const, hash, mode: 0o600 } }];
        const tree = { listPaths: async () => [], readFiles: async () => new Map() };
        const change = { id, root: '', edits, folders: [] };
        return { change, ignored: [], refused: null, changedInProject: [], before: tree, after: tree };
      },
      createCollectedChange: (id, edits) => {
        const tree = { listPaths: async () => [], readFiles: async () => new Map() };
        const change = { id, root: '', edits, folders: [] };
        return { change, ignored: [], refused: null, changedInProject: [], before: tree, after: tree };
      },
      apply: async (change) => ({ kind: 'applied', change }),
      revertTemporarily: async () => ({ written: [], leftAlone: [] }),
      revert: async () => ({ written: [], leftAlone: [], lost: [] }),
      listApplied: () => [],
      listEditedFiles: () => new Set(),
      markDecided: async () => undefined,
      close: async () => undefined,
    },
    runAgent: createRunAgent({ graceMs: 300, settleMs: 300 }, redactor),
    spending: createSpending(0),
    suite: {
      playwright: { version: '1.57.0' },
      plan: createRunPlan(),
      runInCleanCopy: async () => 'there is none',
      prepare: async () => null,
      rerun: async () => run,
    },
    diagnostics: {
      writeFailure: (failure) => writeFailure({ folder: folder.value, redactor }, failure),
      unpackTrace: (n) => unpackTrace({ settings, folder: folder.value, redactor }, n),
      diagnose: createDiagnose({ settings, folder: folder.value, cwd: root, redactor }),
    },
  };
  const [cause] = groupIntoCauses(await session.diagnostics.diagnose({ ...run, failures: [failure] }));
  if (!cause) throw new Error('nothing was found');
  bus.emit({
    type: 'run.started',
    runId,
    project: 'shop',
    playwright: '1.65.0',
    dryRun: false,
    verify: 'full',
    request: { filters: [], passThrough: [], options: {} },
  });
  bus.emit({ type: 'suite.started', purpose: 'first', tests: 2, causeId: null });
  bus.emit({ type: 'suite.progress', done: 1, total: 2, failed: 1, test: say('progress') });
  announceTests(session, { tests: [{ ...aResult('a1b2', 'unexpected'), test: failure.test }] });
  bus.emit({ type: 'cause.found', cause: summarizeCause(cause) });
  bus.emit({ type: 'run.warning', message: say('warning') });
  const deploy = async (n: number, previous: readonly Attempt[]) => {
    const request = { cause, agent: 'debugger', n, previous };
    const trial = await startTrial(session, cause, { n, agent: 'debugger', runner: null });
    const finish = await prepareAgent(session, trial, request, { copy: 0, signal: session.signal });
    await finish();
    return trial;
  };
  const first = await deploy(1, []);
  const attempt = { ...first.record, end: anEnd('still-failing', say('judgement')) };
  bus.emit({ type: 'attempt.judged', causeId: cause.id, attempt });
  await deploy(2, [attempt]);
  bus.emit({ type: 'run.warning', message: say('warnings') });
  const ended = { verdict: 'failed', reason: say('reason'), attempts: 1, costUsd: null } as const;
  bus.emit({ type: 'cause.ended', causeId: cause.id, ...ended });
  const spent = { durationMs: 1, agentRuns: 2, costUsd: null };
  bus.emit({ type: 'run.ended', outcome: 'red', exitCode: 1, ...spent, commit: null });
  const report = createReport(bus.getRun());
  await writeFile(path.join(folder.value.dir, 'report.json'), JSON.stringify(report, null, 2));
  screen.write(renderSummary(report, { paint, columns: 4000 }));
  const { dir, finalDir } = folder.value;
  await writeReports(report, {
    dir,
    finalDir,
    cwd: root,
    env: github(dir),
    print: (line) => void screen.write(`${line}\n`),
  });
  await writeHtmlReport(report, { dir, displayDir: '.self-heal' });
  const memory = await openRunStore({
    settings: { ...settings, store },
    cwd: root,
    bus,
    redactor,
  });
  if (!memory.ok) throw new Error(memory.error.message);
  await memory.value.escalate(
    {
      signature: cause.lead.signature,
      category: cause.lead.diagnosis.category,
      retry: cause.lead.diagnosis.retry,
      tests: [{ id: failure.test.id, name: say('question-test') }],
      problem: say('question'),
      tried: [say('question-tried')],
      recommendation: say('recommendation'),
      choices: ['guide', 'skip'],
      offers: [],
    },
    runId,
  );
  await memory.value.close();
  await bus.close();
  await moveRunIntoProject(folder.value);
  screen.end();
  return { root, dir: finalDir, terminal: String(screen.read()), cause };
}

/** The environment of a step of GitHub Actions, whose files lie in the folder. */
function github(dir: string): NodeJS.ProcessEnv {
  return {
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: path.join(dir, 'step-summary.md'),
    GITHUB_OUTPUT: path.join(dir, 'step-output'),
  };
}

async function failingRun(suite: string, say: Say) {
  const one = (channel: string) => JSON.stringify(say(channel));
  const output = path.join(suite, 'output');
  await mkdir(output);
  const trace = writeTrace(output, {
    console: [
      aConsoleEntry({ type: 'error', text: say('console') }),
      aConsoleEntry({ type: 'pageerror', text: 'TypeError: x', stack: `TypeError: x\n${say('page-stack')}` }),
    ],
    network: [
      aRequest({
        status: 500,
        url: `http://localhost/a?note=${encodeURIComponent(say('url'))}`,
        requestHeaders: { 'x-note': one('request-header') },
        responseHeaders: { 'x-note': one('response-header') },
        requestBody: say('request-body'),
        responseBody: JSON.stringify({ note: say('response-body') }),
      }),
    ],
    page: {
      url: `http://localhost/?title=${encodeURIComponent(say('page-url'))}`,
      body: [
        ['H1', {}, say('title-of-the-page')],
        ['IMG', { alt: say('picture-of-the-page') }],
      ],
    },
  });
  const stamped = say('server').split('\n');
  await writeFile(path.join(suite, 'server.log'), stamped.map((line) => `${startedAt} ${line}\n`).join(''));
  await writeFile(path.join(suite, 'playwright.log'), say('playwright-log'));
  await writeFile(path.join(suite, 'problems.log'), say('problems-log'));
  await writeFile(path.join(suite, 'report.ndjson'), JSON.stringify({ error: say('raw-report') }));
  await mkdir(
    path.join(
      suite,
      'output',
      say('folder')
        .replaceAll(/[^\w-]/g, '-')
        .slice(0, 60),
    ),
    {
      recursive: true,
    },
  );
  const error = anError({
    message: `Error: ${say('message')}`,
    stack: `Error: x\n${say('stack')}\n    at a.ts:1:1`,
    snippet: say('snippet'),
    causes: [say('cause')],
  });
  const test = {
    id: 'a1b2',
    titlePath: ['a.spec.ts', say('title')],
    location: { file: '/shop/a.spec.ts', line: 3, column: 1 },
    project: 'chromium',
  };
  const failure = aTestFailure({ test, errors: [error], attachments: [trace], failedStep: say('step') });
  return { failure, run: aRun({ serverLog: path.join(suite, 'server.log') }) };
}
