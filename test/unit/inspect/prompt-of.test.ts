import path from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandFileOf } from '../../../src/agents/command-files.js';
import { builtInRunners, type BuiltInRunner } from '../../../src/core/built-in.js';
import type { Settings } from '../../../src/core/settings.js';
import { failuresOf } from '../../../src/inspect/find-failure.js';
import { promptOf } from '../../../src/inspect/prompt-of.js';
import { redactorOf } from '../../../src/secrets/redactor.js';
import { aReport, aReportCause } from '../../rig/a-report.js';
import { aBlame, aDiagnosed, failing, someSettings } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

/** The prompt that `inspect --prompt` prints for a failure that no agent was given. */
function promptFor(projectRoot: string, settings: Settings) {
  const one = { failure: aDiagnosed(), seen: [1], test: null, cause: null };
  const run = { runId: 'r1', dir: projectRoot, report: null, failures: [one.failure], unreadable: [] };
  const redactor = redactorOf([{ name: 'SHOP_TOKEN', value: 'tok-90-kestrel' }]);
  return promptOf({ run, one, attempt: null, settings, projectRoot, redactor });
}

/** Settings in which every class is routed to `/fixer` of this program. */
function settingsOf(kind: BuiltInRunner): Settings {
  const plain = someSettings();
  const routes = Object.fromEntries(Object.keys(plain.routes).map((one) => [one, ['fixer']]));
  return {
    ...plain,
    runners: { own: { kind } },
    agents: { fixer: { name: 'fixer', slashCommand: '/fixer', runner: 'own', timeoutMs: 1 } },
    routes: { ...plain.routes, ...routes },
  };
}

describe('the prompt of a failure that no agent was given', () => {
  it.each(builtInRunners)('CL-9 EV-9 is what a run would send to %s, without secrets', async (kind) => {
    const root = tempDir();
    const file = path.join(root, commandFileOf(kind, '/fixer'));
    mkdirSync(path.dirname(file), { recursive: true });
    const body =
      kind === 'gemini' ? "prompt = 'Mend {{args}} tok-90-kestrel'" : 'Mend $ARGUMENTS tok-90-kestrel';
    writeFileSync(file, body);
    const found = await promptFor(root, settingsOf(kind));
    const text = found.ok ? found.value.text : '';
    const expands = kind === 'claude' || kind === 'opencode';
    expect(text.startsWith(expands ? '/fixer' : 'Mend ')).toBe(true);
    expect(text).toContain('Fix this error so the test can pass');
    expect(text).not.toContain('kestrel');
  });

  it('CL-9 BL-3 names the change to blame and the other tests of its cause', async () => {
    const failed = [failing('t1', 'boom', { n: 1 }), failing('t2', 'boom', { n: 2 })];
    const cause = aReportCause({
      evidence: 'failures/1',
      tests: ['t1', 't2'],
      attempts: [],
      blame: aBlame(),
    });
    const root = tempDir();
    const run = {
      runId: 'r1',
      dir: root,
      report: aReport({ causes: [cause] }),
      failures: failed,
      unreadable: [],
    };
    const [one] = failuresOf(run);
    if (!one) throw new Error('No failure');
    const found = await promptOf({
      run,
      one,
      attempt: null,
      settings: settingsOf('claude'),
      projectRoot: root,
      redactor: redactorOf([]),
    });
    const text = found.ok ? found.value.text : '';
    expect(text).toContain('It was green before');
    expect(text).toContain('1 more test fails from the same cause');
  });

  it('CL-9 is a problem if its class has no agent', async () => {
    const settings = { ...settingsOf('claude'), routes: someSettings().routes };
    const routes = Object.fromEntries(Object.keys(settings.routes).map((one) => [one, []]));
    const found = await promptFor(tempDir(), { ...settings, routes: { ...settings.routes, ...routes } });
    expect(found).toMatchObject({ ok: false, error: { kind: 'usage' } });
  });
});
