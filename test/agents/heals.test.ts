import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchProject, type Finished } from '../rig/scratch-project.js';
import {
  agentsFile,
  commandFile,
  finalMessage,
  realPrograms,
  useOnlyEnv,
  type RealProgram,
} from './real-program.js';
import { startStubApi, type SeenRequest, type Step } from './stub-api.js';

/** A suite that needs no browser and fails because of one wrong word in a file; every class is routed to one agent. */
function listProjectFiles(program: RealProgram): Record<string, string> {
  const classes = ['build-error', 'database-error', 'runtime-error', 'network-error', 'ui-error', 'unknown'];
  return {
    'package.json': '{ "name": "scratch", "type": "module" }',
    '.gitignore': 'node_modules\ntest-results\n',
    'word.mjs': "export const word = 'one';\n",
    'playwright.config.ts': "export default { testDir: 'tests', reporter: [['list']] };",
    'tests/a.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { word } from '../word.mjs';
      test('says two', () => expect(word).toBe('two'));`,
    'agents.yaml': `version: 1
${Object.entries(agentsFile(program))
  .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  .join('\n')}
routes: { ${classes.map((one) => `${one}: [debugger]`).join(', ')} }
retries: { max: 3, backoff: { initial: 100ms, factor: 1, max: 100ms } }
verify: { review: off }
`,
    ...commandFile(program),
  };
}

interface Healed extends Finished {
  readonly requests: readonly SeenRequest[];
  read(file: string): Promise<string>;
}

async function heal(program: RealProgram, stepsFor: (file: string) => readonly Step[]): Promise<Healed> {
  const project = await scratchProject(listProjectFiles(program));
  // The model reads in its prompt which folder it works in.
  const inCopy = (request: string) => {
    const copy = /self-heal-[\da-f]{12}\/copy\//.exec(request);
    if (copy === null) return '';
    const place = request.slice(request.lastIndexOf(tmpdir(), copy.index), copy.index + copy[0].length);
    return path.join(place, path.basename(project.dir), 'word.mjs');
  };
  await using stub = await startStubApi((request) => stepsFor(inCopy(request)));
  const env = program.env(stub.url);
  useOnlyEnv(env);
  const finished = await project.selfHeal(['run'], env);
  return { ...finished, requests: stub.requests, read: (file) => project.read(file) };
}

const eventsOf = ({ events }: Finished, type: string) => events.filter((event) => event.type === type);

describe.each(realPrograms)('self-heal run with $name', (program) => {
  it('AG-1 AG-9 resumes the session of an attempt that changed nothing, and heals the fault', async () => {
    const healed = await heal(program, (file) => [finalMessage, ...program.edits(file), finalMessage]);
    expect(healed.exitCode, healed.stderr).toBe(0);
    expect(await healed.read('word.mjs')).toContain("'two'");
    const judged = eventsOf(healed, 'attempt.judged');
    expect(judged).toMatchObject([
      { attempt: { files: [], end: { kind: 'still-failing' } } },
      { attempt: { exit: 'completed', end: { kind: 'green' }, files: [{ path: 'word.mjs' }] } },
    ]);
    const main = healed.requests.filter((request) => request.isMain);
    expect(main[0]?.body).not.toContain('one is two');
    expect(main[1]?.body).toContain('one is two');
  });

  it('AG-7 counts no attempt while the provider is briefly overloaded', async () => {
    const busy = Array.from({ length: program.name === 'codex' ? 12 : 3 }, () => ({ status: 503 }));
    const healed = await heal(program, (file) => [...busy, ...program.edits(file), finalMessage]);
    expect(healed.exitCode, healed.stderr).toBe(0);
    expect(eventsOf(healed, 'attempt.judged')).toHaveLength(1);
    expect(eventsOf(healed, 'agent.retrying').length).toBeLessThan(4);
  });

  it('AG-7 continues with less context after a context overflow, and counts no attempt', async () => {
    const healed = await heal(program, (file) => [program.tooLong, ...program.edits(file), finalMessage]);
    expect(healed.exitCode, healed.stderr).toBe(0);
    expect(eventsOf(healed, 'attempt.judged')).toHaveLength(1);
    // opencode shortens a session that is too long by itself.
    expect(eventsOf(healed, 'agent.started')).toHaveLength(program.name === 'opencode' ? 1 : 2);
  });

  it('AG-7 exits with 5 and prints the remedy if the program is not logged in', async () => {
    const { exitCode, stdout, stderr } = await heal(program, () => [{ status: 401 }]);
    expect(exitCode).toBe(5);
    expect(`${stdout}${stderr}`).toMatch(/log ?in|set [A-Z_]+KEY|GH_TOKEN/i);
  });
});
