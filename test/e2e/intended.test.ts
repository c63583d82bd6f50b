import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import type { Report } from '../../src/run/report.js';
import { hasPseudoTerminal, keys, onTerminal } from '../rig/pseudo-terminal.js';
import { agentsYaml, scratchProject, shopFiles, userEnv } from '../rig/scratch-project.js';

/** A change that its author meant: what the page said, what it says now, what the test expects, and what it would have to expect. */
interface Intended {
  readonly what: string;
  readonly was: string;
  readonly is: string;
  readonly expects: string;
  readonly adapted: string;
}

const of = (what: string, [was, is]: [string, string], [expects, adapted]: [string, string]): Intended => ({
  what,
  was,
  is,
  expects,
  adapted,
});

/** The tests read the pages' source, so that they need no browser: `text` is what is between tags, `all` is each item of a list. */
const intended: Intended[] = [
  of(
    'a friendlier text',
    ['<p>Your basket is empty</p>', '<p>Nothing in here yet</p>'],
    ["expect(text('p')).toBe('Your basket is empty')", "expect(text('p')).toBe('Nothing in here yet')"],
  ),
  of(
    'a price format',
    ['<b>$3.00</b>', '<b>3,00 €</b>'],
    ["expect(text('b')).toContain('$3.00')", "expect(text('b')).toContain('3,00 €')"],
  ),
  of(
    'a date format',
    ['<i>12/24/2026</i>', '<i>24.12.2026</i>'],
    ["expect(text('i')).toEqual('12/24/2026')", "expect(text('i')).toEqual('24.12.2026')"],
  ),
  of(
    'a count',
    ['<li>Tea</li>', '<li>Tea</li><li>Milk</li>'],
    ["expect(all('li').length).toBe(1)", "expect(all('li').length).toBe(2)"],
  ),
  of(
    'an order',
    ['<dt>Tea</dt><dt>Coffee</dt>', '<dt>Coffee</dt><dt>Tea</dt>'],
    ["expect(all('dt')).toEqual(['Tea', 'Coffee'])", "expect(all('dt')).toEqual(['Coffee', 'Tea'])"],
  ),
  of(
    'a label',
    ['<button>Buy</button>', '<button>Order now</button>'],
    ["expect(text('button')).toBe('Buy')", "expect(text('button')).toBe('Order now')"],
  ),
  of(
    'a heading',
    ['<h1>Shop</h1>', '<h1>Store</h1>'],
    ["expect(text('h1')).toMatch(/^Shop$/)", "expect(text('h1')).toMatch(/^Store$/)"],
  ),
  of(
    'a title with the number',
    ['<title>Basket</title>', '<title>Basket (0)</title>'],
    ["expect(text('title')).toBe('Basket')", "expect(text('title')).toBe('Basket (0)')"],
  ),
  of(
    'a removed element',
    ['<em>Free shipping</em>', ''],
    ["expect(all('em')).toHaveLength(1)", "expect(all('em')).toHaveLength(0)"],
  ),
  of(
    'an added element',
    ['<h2>Sale</h2>', '<h2>Sale</h2><s>$4.00</s>'],
    ["expect(all('s')).toEqual([])", "expect(all('s')).toEqual(['$4.00'])"],
  ),
  of(
    'a renamed route',
    ['<a href="/basket">', '<a href="/cart">'],
    [
      `expect(page.includes('href="/basket"'), 'the link').toBe(true)`,
      `expect(page.includes('href="/cart"'), 'the link').toBe(true)`,
    ],
  ),
  of(
    'a default',
    ['<input value="USD">', '<input value="EUR">'],
    [`expect(page).toContain('value="USD"')`, `expect(page).toContain('value="EUR"')`],
  ),
];

const nameOf = (n: number) => `tests/t${n}.spec.ts`;

const spec = (n: number, { what, expects }: Intended) => `
  import { test, expect } from '@playwright/test';
  import { readFileSync } from 'node:fs';
  test(${JSON.stringify(what)}, () => {
    const page = readFileSync('pages/${n}.html', 'utf8');
    const all = (tag: string) => [...page.matchAll(new RegExp('<' + tag + '>(.*?)<', 'g'))].map((one) => one[1]);
    const text = (tag: string) => all(tag)[0];
    ${expects};
  });`;

/** What an agent does about the nth change. */
type Fix = (change: Intended, n: number) => readonly [file: string, from: string, to: string];

const adapts: Fix = ({ expects, adapted }, n) => [nameOf(n), expects, adapted];
const undoes: Fix = ({ is, was }, n) => [`pages/${n}.html`, is, was];

const agent = (fixes: readonly ReturnType<Fix>[]) => `
  import { readFileSync, writeFileSync } from 'node:fs';
  const { test } = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8'));
  const [file, from, to] = ${JSON.stringify(fixes)}[Number(/t(\\d+)\\.spec/.exec(test.file)[1])];
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, () => to));
  console.log('SELF-HEAL: {"status":"fixed","summary":"edited"}');`;

/** A project whose last commit made these changes on purpose. */
async function shopAfter(changes: readonly Intended[], fix: Fix, more: string) {
  const pages = (now: 'was' | 'is') =>
    Object.fromEntries(changes.map((one, n) => [`pages/${n}.html`, `<body>\n${one[now]}\n</body>\n`]));
  const project = await scratchProject({
    ...shopFiles,
    ...pages('was'),
    'tests/shop.spec.ts': '',
    ...Object.fromEntries(changes.map((one, n) => [nameOf(n), spec(n, one)])),
    'fixer.mjs': agent(changes.map(fix)),
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], `limits: { escalations: 99 }\n${more}`),
  });
  const git = (...args: string[]) =>
    execa('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args], { cwd: project.dir });
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('commit', '--quiet', '-m', 'shop');
  await git('checkout', '--quiet', '-b', 'words');
  await project.write(pages('is'));
  await git('commit', '--quiet', '-a', '-m', 'Friendlier words');
  return { ...project, git };
}

/** The patches that are ready for each cause, by the title of its test. */
function offered({ causes, tests }: Report): Record<string, (string | undefined)[]> {
  return Object.fromEntries(
    causes.map((cause) => [
      tests.find(({ id }) => cause.tests.includes(id))?.title.at(-1) ?? '',
      cause.attempts.flatMap(({ end }) => (end.kind === 'offered' ? end.side : [])),
    ]),
  );
}

it('BL-6 CL-5 ME-7 each of twelve intended changes ends as a question with the patch of its tests, of one agent run, and an answer applies it', async () => {
  const project = await shopAfter(intended, adapts, 'blame: { enabled: false }');
  const { exitCode, report, stderr } = await project.selfHeal(['run']);
  expect(report && offered(report), stderr).toEqual(
    Object.fromEntries(intended.map(({ what }) => [what, ['tests']])),
  );
  expect(report?.totals).toMatchObject({ agentRuns: intended.length, healed: 0 });
  expect(exitCode).toBe(3);
  expect((await project.git('status', '--porcelain')).stdout).toBe('');
  const [question] = report?.escalations ?? [];
  const answer = await project.selfHeal(['escalations', 'resolve', question?.id ?? '', '--choice', 'tests']);
  expect(answer.report?.causes, answer.stderr).toMatchObject([{ verdict: 'healed' }]);
  expect(answer.exitCode).toBe(0);
  expect(await project.read(nameOf(0))).toContain(intended[0]?.adapted);
});

/** The first of the changes with these names. */
const named = (...names: string[]) => intended.filter(({ what }) => names.includes(what));

it('BL-4 BL-6 a fix that takes back what its author meant waits for a person, beside the patch of the tests that costs nothing', async () => {
  const project = await shopAfter(named('a friendlier text', 'a heading'), undoes, '');
  const { exitCode, report, stderr } = await project.selfHeal(['run']);
  expect(report && offered(report), stderr).toEqual({
    'a friendlier text': ['app', 'tests'],
    'a heading': ['app'],
  });
  expect(report?.causes.map(({ reason }) => reason)).toEqual(
    Array(2).fill(expect.stringMatching(/undoes (?:all|part) of [0-9a-f]{7} "Friendlier words"/)),
  );
  expect(report?.totals).toMatchObject({ agentRuns: 2, healed: 0 });
  expect(exitCode).toBe(3);
  expect((await project.git('status', '--porcelain')).stdout).toBe('');
});

const mends: Fix = ({ is }, n) => [`pages/${n}.html`, is, is.replace('bsket', 'basket, as we say,')];

it('BL-6 a fix that keeps the change and mends it is healed', async () => {
  const typo = { ...named('a friendlier text')[0], is: '<p>Your bsket is empty now</p>' } as Intended;
  const expects = "expect(text('p')).toContain('basket')";
  const project = await shopAfter([{ ...typo, expects }], mends, '');
  const { exitCode, report, stderr } = await project.selfHeal(['run']);
  expect(report?.causes, stderr).toMatchObject([{ verdict: 'healed' }]);
  expect(exitCode).toBe(0);
});

it('BL-6 CF-1 with `verify.intent: tests` a fix stands that undoes a change, and is named', async () => {
  const project = await shopAfter(
    named('a label'),
    undoes,
    'verify: { repeat: 1, flips: 0, regression: none, intent: tests }',
  );
  const { exitCode, report, stderr } = await project.selfHeal(['run']);
  expect(report?.causes, stderr).toMatchObject([{ verdict: 'healed' }]);
  expect(report?.causes[0]?.attempts[0]?.notes).toContainEqual(
    expect.objectContaining({
      file: 'pages/0.html',
      says: expect.stringContaining('undoes all of') as unknown,
    }),
  );
  expect(stderr).toContain('"Friendlier words"');
  expect(exitCode).toBe(0);
});

it('ME-7 HN-4 with `guide --allow tests` an agent changes what the tests of that failure expect, and it is named', async () => {
  const project = await shopAfter(named('a heading'), adapts, 'blame: { enabled: false }');
  const asked = await project.selfHeal(['run']);
  const id = asked.report?.escalations[0]?.id ?? '';
  const guide = ['--choice', 'guide', '--guidance', 'The new one is right.', '--allow', 'tests'];
  expect(await project.selfHeal(['escalations', 'resolve', id, ...guide])).toMatchObject({ exitCode: 0 });
  const { exitCode, report, stderr } = await project.selfHeal(['run']);
  expect(report?.causes, stderr).toMatchObject([
    {
      verdict: 'healed',
      attempts: [
        { cut: [], notes: [{ file: nameOf(0), says: expect.stringContaining('Store') as unknown }] },
      ],
    },
  ]);
  expect(exitCode).toBe(0);
  expect(await project.read('.self-heal/latest/attempts/1.prompt.md')).toContain('may be changed');
});

it.runIf(hasPseudoTerminal())(
  'ME-7 CL-5 in a terminal a person is asked after the run: an answer is proven, and leaving ends with what is open',
  async () => {
    const project = await shopAfter(named('a label', 'a heading'), adapts, 'blame: { enabled: false }');
    const bin = path.resolve(import.meta.dirname, '../../bin/self-heal.js');
    const env = { ...userEnv(), TERM: 'xterm-256color' };
    const terminal = onTerminal([process.execPath, bin, 'run'], { cwd: project.dir, columns: 100, env });
    await terminal.shows('Give guidance to the agent');
    await terminal.shows('confirm');
    terminal.press(keys.enter);
    await terminal.shows('Give guidance to the agent');
    await terminal.shows('confirm');
    terminal.press(keys.ctrlC);
    expect(await terminal.exitCode).toBe(3);
    const changed = (await project.git('diff', '--name-only')).stdout.split('\n');
    expect(changed).toHaveLength(1);
    expect(changed[0]).toMatch(/^tests\/t\d\.spec\.ts$/);
  },
);
