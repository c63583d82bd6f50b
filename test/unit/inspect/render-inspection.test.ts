import path from 'node:path';
import { expect, it } from 'vitest';
import { readRun } from '../../../src/run/find-run.js';
import { renderList } from '../../../src/inspect/render-inspection.js';
import { aReport } from '../../rig/a-report.js';
import { leaveRun } from '../../rig/events-of-report.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { tempDir } from '../../rig/temp-dir.js';

const runId = '20260101-000000-0001';

async function listOf(files: Record<string, string>): Promise<string> {
  const project = tempDir();
  writeInto(path.join(project, '.self-heal/runs', runId), files);
  return renderList(await readRun(project, runId), []);
}

it('CL-9 does not say that nothing failed if the run was killed or stopped in its first suite', async () => {
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
  const green = renderList(await readRun(project, runId), []);
  expect(green).toMatch(/\n {2}nothing failed$/);
});
