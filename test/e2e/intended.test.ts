import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { committed } from '../rig/git-repository.js';
import { isLong } from '../rig/long.js';
import { canPty, keys, onAPty } from '../rig/on-a-pty.js';
import {
  agentsYaml,
  causeOf,
  scratchProject,
  shopFiles,
  userEnv,
  type Finished,
} from '../rig/scratch-project.js';
import { tempDir, tempDirOfFile } from '../rig/temp-dir.js';

/** A change that its author meant: what a page said and says now, and what its test expects and would have to expect. */
interface Intended {
  readonly before: string;
  readonly now: string;
  readonly expects: string;
  readonly adapted: string;
  /** What an agent does about it. */
  readonly agent: 'adapts' | 'undoes' | 'removes';
}

/** What the test of a part of a page that is gone has beside it. */
const beside = "test('a test beside it', () => {});\n  ";

/** The tests read the pages' source: `text` is what is between tags. */
const intended: Record<string, Intended> = {
  'a price format': {
    before: '<b>$3.00</b>',
    now: '<b>3,00 €</b>',
    expects: "expect(text('b')).toContain('$3.00')",
    adapted: "expect(text('b')).toContain('3,00 €')",
    agent: 'adapts',
  },
  'a friendlier text': {
    before: '<p>Your basket is empty</p>',
    now: '<p>Nothing in here yet</p>',
    expects: "expect(text('p')).toBe('Your basket is empty')",
    adapted: "expect(text('p')).toBe('Nothing in here yet')",
    agent: 'undoes',
  },
  'a part that is gone': {
    before: '<u>New here?</u>',
    now: '<br>',
    expects: "expect(text('u')).toBe('New here?')",
    adapted: '',
    agent: 'removes',
  },
  'the only part': {
    before: '<u>New here?</u>',
    now: '<br>',
    expects: "expect(text('u')).toBe('New here?')",
    adapted: '',
    agent: 'removes',
  },
};

const spec = (what: string) => `tests/${what.replaceAll(' ', '-')}.spec.ts`;
const page = (what: string) => `pages/${what.replaceAll(' ', '-')}.html`;
const test = (what: string) => `
  import { test, expect } from '@playwright/test';
  import { readFileSync } from 'node:fs';
  ${what === 'a part that is gone' ? beside : ''}test('${what}', () => {
    const page = readFileSync('${page(what)}', 'utf8');
    const text = (tag: string) => new RegExp('<' + tag + '>(.*?)<').exec(page)?.[1];
    ${intended[what]?.expects};
  });`;

const agent = `
  import { readFileSync, writeFileSync } from 'node:fs';
  const what = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8')).test.titlePath.at(-1);
  const { agent, before, now, expects, adapted } = ${JSON.stringify(intended)}[what];
  const name = what.replaceAll(' ', '-');
  const [file, from, to] = agent === 'adapts' || agent === 'removes'
    ? ['tests/' + name + '.spec.ts', expects, adapted]
    : ['pages/' + name + '.html', now, before];
  const text = readFileSync(file, 'utf8');
  const withoutTest = text.slice(0, text.lastIndexOf("test('"));
  writeFileSync(file, agent === 'removes' ? withoutTest : text.replace(from, () => to));
  console.log('SELF-HEAL: {"status":"fixed","summary":"edited"}');`;

/** A project whose last commit made these changes on purpose. */
async function shopAfter(changes: readonly string[], dir: string) {
  const pages = (state: 'before' | 'now') =>
    Object.fromEntries(changes.map((what) => [page(what), `<body>\n${intended[what]?.[state]}\n</body>\n`]));
  const { 'tests/shop.spec.ts': _, 'page.html': __, ...shared } = shopFiles;
  const files = {
    ...shared,
    ...pages('before'),
    ...Object.fromEntries(changes.map((what) => [spec(what), test(what)])),
    'fixer.mjs': agent,
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'blame: { time: 30m }'),
  };
  const project = await scratchProject(files, dir);
  committed(dir, 'shop');
  await project.write(pages('now'));
  const git = committed(dir, 'Friendlier words', 'words');
  return { ...project, git };
}

/** The patches that are ready for the cause of a test. */
const offersOf = (run: Finished, what: string) =>
  causeOf(run, what).attempts.flatMap(({ end }) => (end.kind === 'offered' ? [end.side] : []));

function questionOf(run: Finished, what: string): string {
  const { id } = causeOf(run, what);
  return run.report?.escalations.find(({ causeId }) => causeId === id)?.id ?? '';
}

describe('intended changes', () => {
  const meant = ['a friendlier text', 'a part that is gone'];
  let project: Awaited<ReturnType<typeof shopAfter>>;
  let run: Finished;
  let changed: string;
  let removal: Finished;
  beforeAll(async () => {
    project = await shopAfter(meant, tempDirOfFile('intended'));
    run = await project.selfHeal(['run']);
    changed = project.git('status', '--porcelain');
    const removed = questionOf(run, 'a part that is gone');
    removal = await project.selfHeal(['escalations', 'resolve', removed, '--choice', 'tests']);
  });

  it('BL-6 CL-5 end as a question with a patch of the tests after one agent run', () => {
    expect(offersOf(run, 'a part that is gone')).toEqual(['tests', 'app']);
    expect(run.report?.totals.agentRuns).toBe(meant.length);
    expect(run.exitCode).toBe(3);
    expect(changed).toBe('');
  });

  it('BL-4 BL-6 are not reverted: such a fix waits for a person, beside a patch of the tests', () => {
    expect(offersOf(run, 'a friendlier text')).toEqual(['app', 'tests']);
    const because = /undoes a change from [0-9a-f]{7} "Friendlier words"/;
    expect(causeOf(run, 'a friendlier text').reason).toMatch(because);
  });

  it('BL-6 ME-7 remove a whole test only after an answer, proven by the test’s absence', async () => {
    expect(removal.report, removal.stderr).toMatchObject({ causes: [{ verdict: 'healed' }] });
    expect(removal.exitCode).toBe(0);
    const text = await project.read(spec('a part that is gone'));
    expect(text).not.toContain('New here?');
    expect(text).toContain('a test beside it');
  });
});

it.runIf(isLong)('BL-6 ME-7 an answer may remove the only test of a suite', async () => {
  const project = await shopAfter(['the only part'], tempDir('only'));
  const more = 'verify: { repeat: 1, flips: 1 }\nblame: { time: 30m }';
  await project.write({ 'agents.yaml': agentsYaml(['node', 'fixer.mjs'], more) });
  const run = await project.selfHeal(['run']);
  const question = questionOf(run, 'the only part');
  const answer = await project.selfHeal(['escalations', 'resolve', question, '--choice', 'tests']);
  expect(answer.report, answer.stderr).toMatchObject({ causes: [{ verdict: 'healed' }], warnings: [] });
  expect(answer.exitCode).toBe(0);
});

it.runIf(canPty)(
  'ME-7 CL-5 are asked about in the terminal after the run, and the answer is proven',
  async () => {
    const project = await shopAfter(['a price format'], tempDir('asked'));
    const bin = path.resolve(import.meta.dirname, '../../bin/self-heal.js');
    await project.write({ 'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'blame: { enabled: false }') });
    const command = [process.execPath, bin, 'run'];
    const terminal = onAPty(command, userEnv(), { cwd: project.dir, columns: 100 });
    await terminal.shows('Give guidance to the agent');
    await terminal.shows('confirm');
    terminal.type(keys.enter);
    expect(await terminal.ended()).toBe(0);
    const changed = project.git('diff', '--name-only', 'HEAD', '--', 'tests');
    expect(changed).toBe(spec('a price format'));
  },
);
