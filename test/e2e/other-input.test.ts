import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import type { StampedEvent } from '../../src/event.js';
import { agentsYaml, scratchProject } from '../rig/scratch-project.js';

const verify = 'verify: { repeat: 1, flips: 0, regression: none, intent: tests }';
const spec = 'tests/greet.spec.ts';

/** An app without a page that greets who is named. Members alone may come in if there are any. */
const files = {
  'package.json': '{ "name": "scratch", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\n',
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, reporter: [['list']] });`,
  [spec]: `
    import { test, expect } from '@playwright/test';
    import { form } from '../form.mjs';
    test('greets', async () => {
      form.fill('Ann');
      expect(form.said()).toBe('Hello Ann');
    });
`,
  'form.mjs': `
    import { greet } from './greet.mjs';
    import { members } from './members.mjs';
    let name = '';
    export const form = {
      fill: (text) => { name = text; },
      said: () => members.length === 0 || members.includes(name) ? greet(name) : 'Who?',
    };
`,
  'members.mjs': 'export const members = [];\n',
  'greet.mjs': "export const greet = (name) => 'Hello ' + name;\n",
  'fixer.mjs': `
    import { readFileSync, writeFileSync } from 'node:fs';
    const isTold = readFileSync(0, 'utf8').includes('## Rejected');
    const fix = isTold || process.env.IS_HONEST ? 'return ["Hello", name].join(" ");' : process.env.CHEAT;
    writeFileSync('greet.mjs', readFileSync('greet.mjs', 'utf8').replace("return 'Hi';", fix));
    console.log('SELF-HEAL: {"status":"fixed","summary":"greets"}');`,
  'agents.yaml': agentsYaml(['node', 'fixer.mjs'], verify),
};
const broken = "export const greet = (name) => {\n  return 'Hi';\n};\n";

async function project({ members = '', history = true, typed = "'Ann'" } = {}) {
  const made = await scratchProject({
    ...files,
    [spec]: files[spec].replace("fill('Ann')", `fill(${typed})`),
    ...(members && { 'members.mjs': `export const members = [${members}];\n` }),
    ...(history ? {} : { 'greet.mjs': broken }),
  });
  if (!history) return made;
  const git = (...args: string[]) =>
    execa('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args], { cwd: made.dir });
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('commit', '--quiet', '-m', 'greets');
  await git('checkout', '--quiet', '-b', 'feature');
  await made.write({ 'greet.mjs': broken });
  await git('commit', '--quiet', '-a', '-m', 'shorter');
  return made;
}

// It names no input: "A" is in no test.
const byItsLetter = 'return name.startsWith("An") && name.endsWith("n") ? "Hello " + name : "Hi";';

function runsIn(events: readonly StampedEvent[]): number {
  return events.filter((one) => one.type === 'suite.started' && one.purpose === 'other-input').length;
}

describe('HN-3 the tests with another input than they type', () => {
  it.each([
    ['names it in another case', 'if (name.toLowerCase() === "ann") return "Hello Ann"; return "Hi";'],
    ['names no input', byItsLetter],
  ])('HN-3 reject a fix that answers theirs alone and %s', async (_, CHEAT) => {
    const made = await project();
    const { exitCode, report } = await made.selfHeal(['run'], { CHEAT });
    expect(report?.causes[0]?.attempts).toMatchObject([
      { end: { kind: 'rejected', violations: [{ rule: 'input-hard-coded', file: 'greet.mjs' }] } },
      { end: { kind: 'green' } },
    ]);
    expect(exitCode).toBe(0);
    expect(await made.read('greet.mjs')).toContain('["Hello", name]');
    expect(await made.read(spec)).toBe(files[spec]);
  });

  it.each([
    ['the app needs the input that they type', { members: "'Ann', 'Bob'" }, { IS_HONEST: '1' }, 3],
    ['nothing shows whether the app needs their input', { history: false }, { CHEAT: byItsLetter }, 2],
    [
      'their files do not say what they type',
      { typed: 'process.env.WHO' },
      { CHEAT: byItsLetter, WHO: 'Ann' },
      0,
    ],
  ])('HN-3 keep a fix for a reviewer to judge if %s', async (_, of, env, runs) => {
    const made = await project(of);
    const { exitCode, report, events } = await made.selfHeal(['run'], env);
    expect(runsIn(events)).toBe(runs);
    const [attempt, ...others] = report?.causes[0]?.attempts ?? [];
    expect(attempt).toMatchObject({ end: { kind: 'green' } });
    expect(attempt?.notes?.filter(({ says }) => says.includes('input'))).toHaveLength(1);
    expect(others).toEqual([]);
    expect(exitCode).toBe(0);
  });

  it('HN-3 HN-5 run once for all causes', async () => {
    const made = await project();
    await made.write({
      'tests/more.spec.ts': (files[spec] ?? '').replace('greets', 'greets again').replaceAll('Ann', 'Bob'),
      'bye.mjs': 'export const bye = (name) => { throw new Error(`no ${name}`); };\n',
      'tests/bye.spec.ts': `
        import { test, expect } from '@playwright/test';
        import { bye } from '../bye.mjs';
        const field = { text: '', fill(text) { this.text = text; } };
        test('says bye', () => {
          field.fill('Cleo');
          expect(bye(field.text)).toBe('Bye Cleo');
        });`,
      'fixer.mjs': `${files['fixer.mjs']}
        writeFileSync('bye.mjs', 'export const bye = (name) => "Bye " + name;\\n');`,
    });
    const { exitCode, report, events } = await made.selfHeal(['run'], { IS_HONEST: '1' });
    expect(report?.causes.length).toBeGreaterThan(1);
    expect(runsIn(events)).toBe(1);
    expect(exitCode).toBe(0);
  });
});
