import path from 'node:path';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandFileOf } from '../../src/agents/command-files.js';
import { programs as agentPrograms } from '../../src/agents/programs.js';
import { builtInRunners, type BuiltInRunner } from '../../src/core/built-in.js';
import { orWhenLong } from '../rig/long.js';
import { programs } from '../rig/programs.js';
import { causeOf, scratchProject, userEnv, type Finished } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const recorded = path.resolve(import.meta.dirname, '../unit/agents/recorded');

/** Stands in for an agent program: replays one recording of the real one per start, and makes the edit if that is `edit`. */
const replay = `
  import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
  const [program, starts, ...scenarios] = process.argv.slice(2);
  appendFileSync(starts, 'x');
  const start = readFileSync(starts, 'utf8').length;
  const scenario = scenarios[Math.min(start, scenarios.length) - 1];
  if (scenario === 'edit') writeFileSync('src/word.js', "export const word = 'two';");
  const lines = readFileSync(${JSON.stringify(recorded)} + '/' + program + '-' + scenario + '.jsonl', 'utf8').trim().split('\\n');
  for (const [to, text] of lines.map((line) => JSON.parse(line))) process[to].write(text + '\\n');
  process.exitCode = scenario === 'edit' ? 0 : 1;`;

const classes = ['build-error', 'database-error', 'runtime-error', 'network-error', 'ui-error', 'unknown'];

/** A suite with two causes, one wrong word each in a module; every class is routed to one agent, which can mend the first. */
function files(runner: BuiltInRunner): Record<string, string> {
  return {
    'package.json': '{ "name": "scratch", "type": "module" }',
    '.gitignore': 'node_modules\ntest-results\n',
    'src/word.js': "export const word = 'one';",
    'src/other.js': "export const other = 'one';",
    'replay.mjs': replay,
    'playwright.config.ts': "export default { testDir: 'tests', workers: 1, reporter: [['list']] };",
    'tests/a.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { word } from '../src/word.js';
      import { other } from '../src/other.js';
      test('says two', () => expect(word, 'a word').toBe('two'));
      test('says three', () => expect(other, 'another one').toBe('three'));`,
    'agents.yaml': `version: 1
runner: ${runner}
routes: { ${classes.map((one) => `${one}: [debugger]`).join(', ')} }
retries: { max: 3, backoff: { initial: 10ms, factor: 1, max: 10ms } }
verify: { repeat: 1, flips: 0, regression: none }
`,
    [commandFileOf(runner, '/debugger')]:
      runner === 'gemini'
        ? 'prompt = "Mend it. {{args}}"\n'
        : '---\nname: debugger\ndescription: Mends\n---\nMend it.\n',
  };
}

/** Runs self-heal with an agent program that replays these recordings, one per start. */
async function runWith(
  runner: BuiltInRunner,
  ...scenarios: readonly string[]
): Promise<Finished & { starts: number }> {
  const project = await scratchProject(files(runner));
  // Counted outside the project, because agents work in a copy of it.
  const starts = path.join(tempDir('starts'), 'starts.txt');
  const command = `exec "${process.execPath}" replay.mjs ${runner} "${starts}" ${scenarios.join(' ')}`;
  const bin = programs({ [runner]: command });
  const env = { PATH: `${bin}${path.delimiter}${userEnv()['PATH'] ?? ''}` };
  const finished = await project.selfHeal(['run'], env);
  return { ...finished, starts: readFileSync(starts, 'utf8').length };
}

const eventsOf = ({ events }: Finished, type: string) => events.filter((event) => event.type === type);

describe.runIf(process.platform !== 'win32').each(builtInRunners.slice(0, orWhenLong(1, 5)))(
  'self-heal run with recorded output of %s',
  (runner) => {
    it('AG-6 AG-7 ME-4 CL-5 starts the agent again after a 503, and counts no attempt for it; on a 401 it exits with 5 and the remedy, without a retry', async () => {
      const ended = await runWith(runner, '503', 'edit', '401');
      expect(ended.exitCode, ended.stderr).toBe(5);
      expect(ended.starts).toBe(3);
      expect(eventsOf(ended, 'agent.retrying')).toMatchObject([
        { attempt: 1, reason: expect.stringMatching(`^${runner}: `) },
      ]);
      expect(causeOf(ended, 'says two').attempts).toMatchObject([{ n: 1, end: { kind: 'green' } }]);
      expect(ended.stderr.replaceAll(/\s+/g, ' ')).toContain(agentPrograms[runner].login);
      expect(ended.report?.tests.map((test) => test.verdict)).toEqual(['healed', 'agent-unusable']);
    });
  },
);
