import { expect, it } from 'vitest';
import { lateWorkspace, type WorkspaceParts } from '../../../src/heal/late-workspace.js';
import { closed } from '../../../src/heal/open-run.js';
import { createRedactor } from '../../../src/secrets/redactor.js';
import { recordingBus } from '../../rig/recording-bus.js';
import { tempDir } from '../../rig/temp-dir.js';

it('EV-9 masks secrets of the environment in the problem that ends a run', async () => {
  const env = { DEPLOY_TOKEN: 'plain-looking-words-42' };
  const redactor = await createRedactor({ env, projectRoot: tempDir('closed') });
  const running = { ended: async () => {}, hasCopies: async () => {} };
  const { bus, events } = recordingBus();
  const workspace = lateWorkspace({} as WorkspaceParts);
  const problem = await closed(
    { running, bus, redactor, workspace },
    {
      kind: 'playwright-refused',
      message: 'Playwright ended before its tests',
      remedy: 'Look at its words.',
      detail: 'Error: Project(s) "plain-looking-words-42" not found',
    },
  );
  expect(problem).toMatchObject({ kind: 'playwright-refused', detail: expect.stringContaining('[masked') });
  expect(events).toMatchObject([{ type: 'run.stopped', message: 'Playwright ended before its tests' }]);
  expect(JSON.stringify(problem)).not.toContain('plain-looking-words-42');
});
