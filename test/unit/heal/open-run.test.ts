import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

import { closed, lateWorkspace, type WorkspaceParts } from '../../../src/heal/open-run.js';
import { ownerVariables } from '../../../src/process/proc-table.js';
import { createRunFolder } from '../../../src/run/run-folder.js';
import { createRedactor, redactorOf } from '../../../src/secrets/redactor.js';
import { recordingBus } from '../../rig/recording-bus.js';
import { tempDir } from '../../rig/temp-dir.js';

/** Opens a run with a folder of its own, in which nothing has happened yet. */
async function anOpenRun() {
  const folder = await createRunFolder(tempDir('project'), `run-${process.hrtime.bigint()}`);
  if (!folder.ok) throw new Error(folder.error.message);
  const running = { ended: async () => {}, hasCopies: async () => {} };
  const { bus, events } = recordingBus();
  const workspace = lateWorkspace({} as WorkspaceParts);
  return { running, bus, events, workspace, folder: folder.value, redactor: redactorOf([]) };
}

it('EV-9 masks secrets of the environment in the problem that ends a run', async () => {
  const env = { DEPLOY_TOKEN: 'plain-looking-words-42' };
  const redactor = await createRedactor({ env, projectRoot: tempDir('closed') });
  const opened = await anOpenRun();
  const problem = await closed(
    { ...opened, redactor },
    {
      kind: 'playwright-refused',
      message: 'Playwright ended before its tests',
      remedy: 'Look at its words.',
      detail: 'Error: Project(s) "plain-looking-words-42" not found',
    },
  );
  expect(problem).toMatchObject({ kind: 'playwright-refused', detail: expect.stringContaining('[masked') });
  expect(opened.events).toMatchObject([
    { type: 'run.stopped', message: 'Playwright ended before its tests' },
  ]);
  expect(JSON.stringify(problem)).not.toContain('plain-looking-words-42');
});

it('EV-9 AG-10 a run that cannot proceed leaves no process, and no file that may hold secrets', async () => {
  const opened = await anOpenRun();
  const output = path.join(opened.folder.dir, 'suites', '1', 'output');
  mkdirSync(output, { recursive: true });
  writeFileSync(path.join(output, 't1-0.json'), '{"network":[]}');
  const env = { ...process.env, ...ownerVariables(opened.folder) };
  const child = spawn('sleep', ['1000'], { env, detached: true, stdio: 'ignore' });
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  await closed(opened, { kind: 'no-tests', message: 'no test matches', remedy: 'Check the filters.' });
  expect(existsSync(output)).toBe(false);
  expect(await exited).toEqual([null, 'SIGTERM']);
});
