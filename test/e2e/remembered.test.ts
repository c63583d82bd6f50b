import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import path from 'node:path';
import { execaSync } from 'execa';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createStore } from '../../src/store/create-store.js';
import { openStore } from '../../src/store/open-store.js';
import { isLong } from '../rig/long.js';
import { agentsYaml, scratchProject, type Finished, type ScratchProject } from '../rig/scratch-project.js';
import { tempDirOfFile } from '../rig/temp-dir.js';

const words = isLong ? ['one', 'two', 'three'] : ['three'];

/** Red tests for different reasons, which need no browser; `three` hangs in the run whose number is in `hang-at`. */
const files = {
  'package.json': '{ "name": "scratch" }',
  '.gitignore': 'node_modules\ntest-results\n*.ran\nhang-at\n',
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, timeout: 120_000, reporter: [['list']] });`,
  ...Object.fromEntries(
    words.flatMap((word) => [
      [`${word}.mjs`, `export const word = 'wrong ${word}';\n//\n`],
      [
        `tests/${word}.spec.ts`,
        `import { test, expect } from '@playwright/test';
    import { appendFileSync, existsSync, readFileSync } from 'node:fs';
    import { word } from '../${word}.mjs';
    test('says ${word}', async () => {
      appendFileSync('${word}.ran', 'x');
      const times = readFileSync('${word}.ran', 'utf8').length;
      if ('${word}' === 'three' && existsSync('hang-at') && times === Number(readFileSync('hang-at', 'utf8')))
        await new Promise(() => {});
      expect(word).toBe('right ${word}');
    });`,
      ],
    ]),
  ),
  // Each agent mends its own cause alone, which its prompt names.
  'agent.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
    const prompt = readFileSync(0, 'utf8');
    for (const word of ${JSON.stringify(words)}) if (prompt.includes('says ' + word))
      writeFileSync(word + '.mjs', readFileSync(word + '.mjs', 'utf8').replace('wrong', 'right'));
    console.log('SELF-HEAL: {"status":"fixed","summary":"mended"}');`,
  'agents.yaml': agentsYaml(['node', 'agent.mjs'], 'verify: { repeat: 2, flips: 0, regression: none }'),
};

/** A project whose run was killed while its last test ran for the nth time. */
async function killedAt(times: number): Promise<ScratchProject> {
  const project = await scratchProject({ ...files, 'hang-at': String(times) });
  const running = project.start(['run']);
  const file = path.join(project.dir, 'three.ran');
  const there = () => existsSync(file) && readFileSync(file, 'utf8').length >= times;
  if (!there()) for await (const _ of watch(project.dir)) if (there()) break;
  const ended = once(running, 'exit');
  running.kill('SIGKILL');
  // Its suite lives on for a moment and keeps its streams open.
  await ended;
  return project;
}

function verdictsOf({ report }: Finished) {
  return report?.causes.map(({ verdict, attempts }) => [
    verdict,
    ...attempts.map(({ proposedBy = 'agent', end }) => `${proposedBy}: ${end.kind}`),
  ]);
}

const remembered = ['healed', 'memory: green'];
/** For what does not depend on how many there are. */
const one = 'tests/three.spec.ts';

it.runIf(isLong && process.platform === 'linux')(
  'ME-8 HN-1 HN-2 a fix whose proof was killed is tried again without an agent, unless undone',
  async () => {
    // First, confirming, beside the second cause, then for its own: the run after that is the proof.
    const project = await killedAt(5);
    expect(await project.read('three.mjs')).toContain('right');
    const { stderr } = await project.selfHeal(['undo']);
    expect(await project.read('three.mjs')).toBe(files['three.mjs' as keyof typeof files]);
    expect(stderr).toContain(
      'cleaned up after an earlier run that was killed\n  reverted an unproven change:',
    );
    const [, patch = ''] = /^ {2}patch: ([^,\n]*)/m.exec(stderr) ?? [];
    expect(readFileSync(patch, 'utf8')).toMatch(/^\+.*right/m);
    await project.write({ 'three.mjs': `${files['three.mjs' as keyof typeof files]}// mine\n` });

    const healed = await project.selfHeal(['run']);
    expect(verdictsOf(healed), healed.stderr).toEqual(words.map(() => remembered));
    expect(healed.report?.totals).toMatchObject({ healed: words.length, agentRuns: 0 });
    expect(healed.stderr).toMatch(
      /a fix from run \S+ \(\d{4}-\d\d-\d\d, \/code-review\) was tried first: green/,
    );
    expect(await project.read('three.mjs')).toBe("export const word = 'right three';\n//\n// mine\n");

    expect((await project.selfHeal(['undo', '--yes'])).exitCode).toBe(0);
    const again = await project.selfHeal(['run', one]);
    expect(verdictsOf(again), again.stderr).toEqual([['healed', 'agent: green']]);
  },
);

/** A project on another machine, which has nothing but its own files and what CI has cached. */
async function afterCached(files: Record<string, string>): Promise<ScratchProject> {
  const project = await scratchProject(files);
  mkdirSync(path.join(project.dir, '.self-heal'));
  cpSync(path.join(healed.dir, '.self-heal/ledger.db'), path.join(project.dir, '.self-heal/ledger.db'));
  return project;
}

let healed: ScratchProject;
let run: Finished;
beforeAll(async () => {
  const quick = agentsYaml(['node', 'agent.mjs']);
  healed = await scratchProject({ ...files, 'agents.yaml': quick }, tempDirOfFile('healed'));
  run = await healed.selfHeal(['run', one]);
  expect(run).toMatchObject({ exitCode: 0, report: { totals: { agentRuns: 1 } } });
});

it('ME-8 PB-6 a returning fault is healed without an agent where only the store is cached', async () => {
  const again = await (await afterCached(files)).selfHeal(['run', one]);
  expect(verdictsOf(again), again.stderr).toEqual([remembered]);
  expect(again.report?.totals.agentRuns).toBe(0);
});

it('HN-1 ME-8 a remembered fix writes no file that git ignores', async () => {
  const project = await afterCached({
    ...files,
    '.gitignore': `${files['.gitignore']}three.mjs\n`,
    'agents.yaml': agentsYaml(['node', 'agent.mjs'], '', 1),
  });
  execaSync('git', ['init', '--quiet'], { cwd: project.dir });
  const refused = await project.selfHeal(['run', one]);
  expect(refused.stderr).toContain('no fix may write three.mjs');
  expect(verdictsOf(refused)?.flat(), refused.stderr).toContain('memory: still-failing');
  expect(await project.read('three.mjs')).toContain('wrong three');
});

it('HN-8 ME-8 an undone fix is not remembered', async () => {
  const signature = run.report?.causes[0]?.signature ?? '';
  const opened = await openStore(path.join(healed.dir, '.self-heal/ledger.db'), '/');
  if (!opened.ok) throw new Error(opened.error.message);
  const store = createStore(opened.value, 'scratch', () => Date.now());
  onTestFinished(() => store.close());
  expect(await store.listRememberedFixes(signature)).toHaveLength(1);
  expect(await healed.selfHeal(['undo', '--yes'])).toMatchObject({ exitCode: 0 });
  expect(await store.listRememberedFixes(signature)).toEqual([]);
});
