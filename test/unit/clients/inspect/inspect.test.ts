import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { locateCommandFile } from '../../../../src/agents/command-files.js';
import { type BuiltInRunner, builtInRunners } from '../../../../src/model/built-in.js';
import type { Settings } from '../../../../src/model/settings.js';
import { listFailures } from '../../../../src/clients/inspect/find-failure.js';
import { failureKey } from '../../../../src/model/failure.js';
import { findLastRed } from '../../../../src/clients/inspect/last-red.js';
import { readPrompt } from '../../../../src/clients/inspect/read-prompt.js';
import { renderFailures } from '../../../../src/clients/inspect/render-inspection.js';
import type { TreeState } from '../../../../src/run/tree-state.js';
import { changesFolder } from '../../../../src/workspace/change.js';
import { readRun } from '../../../../src/run/find-run.js';
import type { ReportCause } from '../../../../src/run/report.js';
import { createRedactorForValues } from '../../../../src/secrets/redactor.js';
import { aReport, aReportCause, aReportTest } from '../../../rig/a-report.js';
import { writeInto } from '../../../rig/agent-workspace.js';
import { aDiagnosed, someSettings } from '../../../rig/builders.js';
import { leaveRun } from '../../../rig/events-of-report.js';
import { tempDir } from '../../../rig/temp-dir.js';

/** The prompt that `inspect --prompt` prints for a failure that no agent was given. */
function promptFor(projectRoot: string, settings: Settings) {
  const one = { failure: aDiagnosed(), numbers: [1], test: null, cause: null };
  const run = { runId: 'r1', dir: projectRoot, report: null, failures: [one.failure], unreadable: [] };
  const redactor = createRedactorForValues([{ name: 'SHOP_TOKEN', value: 'tok-90-kestrel' }]);
  return readPrompt({ run, inspected: one, attempt: null, settings, projectRoot, redactor });
}

/** Settings in which every class is routed to `/fixer` of this program. */
function settingsOf(kind: BuiltInRunner): Settings {
  const plain = someSettings();
  const routes = Object.fromEntries(Object.keys(plain.routes).map((one) => [one, ['fixer']]));
  return {
    ...plain,
    runners: {
      own: kind === 'claude' || kind === 'codex' ? { kind } : { kind: 'acp', program: kind, command: [] },
    },
    agents: { fixer: { name: 'fixer', slashCommand: '/fixer', runner: 'own', timeoutMs: 1 } },
    routes: { ...plain.routes, ...routes },
  };
}

describe('the prompt of a failure without an agent run', () => {
  it.each(builtInRunners)('CL-9 EV-9 equals what a run would send to %s, without secrets', async (kind) => {
    const root = tempDir();
    const file = path.join(root, locateCommandFile(kind, '/fixer'));
    mkdirSync(path.dirname(file), { recursive: true });
    const body =
      kind === 'gemini' ? "prompt = 'Mend {{args}} tok-90-kestrel'" : 'Mend $ARGUMENTS tok-90-kestrel';
    writeFileSync(file, body);
    const found = await promptFor(root, settingsOf(kind));
    const text = found.ok ? found.value.text : '';
    const expands = kind !== 'codex';
    expect(text.startsWith(expands ? '/fixer' : 'Mend ')).toBe(true);
    expect(text).toContain('Fix this error so the test can pass');
    expect(text).not.toContain('kestrel');
  });

  it('CL-9 is reported as a problem if the failure’s class has no agent', async () => {
    const settings = { ...settingsOf('claude'), routes: someSettings().routes };
    const routes = Object.fromEntries(Object.keys(settings.routes).map((one) => [one, []]));
    const found = await promptFor(tempDir(), { ...settings, routes: { ...settings.routes, ...routes } });
    expect(found).toMatchObject({ ok: false, error: { kind: 'usage' } });
  });
});

it('CL-9 lists a failure once if its re-run timed out with another error', () => {
  const failures = [1, 2].map((n) => aDiagnosed({ n, signature: `shop:Error:${n}` }));
  const ofTest = { tests: [failureKey(aDiagnosed().failure)] };
  const cause = aReportCause({ ...ofTest, signature: 'shop:Error:2', evidence: 'failures/2' });
  const listed = (causes: ReportCause[]) =>
    listFailures({ runId: 'r1', dir: tempDir(), report: { ...aReport(), causes }, failures, unreadable: [] });
  expect(listed([cause])).toMatchObject([{ failure: { n: 2 }, numbers: [1, 2], cause: { id: 'c1' } }]);
  expect(listed([cause, aReportCause({ ...ofTest, id: 'c2' })])).toHaveLength(2);
});

const runId = '20260101-000000-0001';

async function listOf(files: Record<string, string>): Promise<string> {
  const project = tempDir();
  writeInto(path.join(project, '.self-heal/runs', runId), files);
  return renderFailures(await readRun(project, runId), []);
}

it('CL-9 does not say that nothing failed if the run was killed during its first suite', async () => {
  const started = {
    type: 'run.started',
    runId,
    project: 'shop',
    playwright: '1.60.0',
    dryRun: false,
    verify: 'full',
    time: 0,
  };
  const killed = await listOf({ 'events.ndjson': `${JSON.stringify(started)}\n` });
  expect(killed).toMatch(/did not finish .*\n {2}no failure has been recorded so far$/);

  const stopped = { type: 'run.stopped', message: 'the browser is not installed', time: 1 };
  const refused = await listOf({
    'events.ndjson': `${JSON.stringify(started)}\n${JSON.stringify(stopped)}\n`,
  });
  expect(refused).toMatch(
    /did not finish[^]*\n {2}The run could not continue: the browser is not installed$/,
  );

  const project = tempDir();
  leaveRun(project, aReport({ causes: [], exitCode: 0 }));
  const green = renderFailures(await readRun(project, runId), []);
  expect(green).toMatch(/\n {2}nothing failed$/);
});

describe('the state to compare a change with', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((sign) => sign.repeat(40)) as [string, string, string];

  /** Leaves runs at these commits, oldest first, each of which saw the one test red or green. */
  async function comparedAfter(runs: readonly (readonly ['red' | 'green', commit: string])[]) {
    const cwd = tempDir();
    for (const [n, [seen, commit]] of runs.entries()) {
      const test = aReportTest({ verdict: seen === 'red' ? 'failed' : 'passed' });
      const dir = leaveRun(cwd, aReport({ runId: `20261121-07150${n}-000a`, tests: [test], commit }));
      const state: TreeState = { schemaVersion: 1, commit, files: [] };
      if (seen === 'red') writeInto(changesFolder(dir), { 'tree.json': JSON.stringify(state) });
    }
    const red = await findLastRed(cwd);
    return [red?.since.state?.commit, red?.greenCommit];
  }

  /** Leaves runs, oldest first, each with its filters and the verdicts of the tests that it ran. */
  async function redAfter(runs: readonly (readonly [string[], Record<string, 'passed' | 'failed'>])[]) {
    const cwd = tempDir();
    for (const [n, [filters, seen]] of runs.entries()) {
      const all = Object.entries(seen).map(([id, verdict]) => aReportTest({ id, verdict }));
      leaveRun(cwd, aReport({ runId: `20261121-07150${n}-000a`, tests: all }), filters);
    }
    return (await findLastRed(cwd))?.redRuns
      .flatMap(({ tests: ofRun }) => ofRun.map(({ id }) => id))
      .toSorted();
  }

  it.each([
    ['a blame run of one of them', ['shop.spec.ts:3'], { t1: 'failed' }, ['t1', 't2']],
    ['a run of some tests in which one was green', ['shop'], { t1: 'failed', t2: 'passed' }, ['t1']],
    ['a run of all tests, in which one is gone', [], { t1: 'failed' }, ['t1']],
  ] as const)(
    'HN-12 includes every test that a red run left red, even after %s',
    async (_, filters, seen, left) => {
      expect(
        await redAfter([
          [[], { t1: 'failed', t2: 'failed' }],
          [[...filters], seen],
        ]),
      ).toEqual(left);
    },
  );

  it('HN-12 HN-3 is the first red run and the last green run before it, regardless of later commits', async () => {
    expect(
      await comparedAfter([
        ['red', a],
        ['red', b],
      ]),
    ).toEqual([a, null]);
    expect(
      await comparedAfter([
        ['green', a],
        ['red', b],
        ['red', c],
      ]),
    ).toEqual([b, a]);
    expect(
      await comparedAfter([
        ['red', a],
        ['green', b],
        ['red', c],
        ['green', c],
      ]),
    ).toEqual([c, b]);
  });
});
