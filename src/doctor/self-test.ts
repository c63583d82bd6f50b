import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { categories } from '../core/diagnosis.js';
import { packageFile } from '../own-files.js';
import { findPlaywright } from '../playwright/find-playwright.js';
import { type Command, supervise } from '../process/supervise.js';
import { type Problem, reasonOf } from '../problem.js';
import { wasReverted } from '../core/attempt.js';
import { err, ok, type Result } from '../result.js';
import { findRun } from '../run/find-run.js';
import type { ReportAttempt } from '../run/report.js';
import { withoutRepository } from '../git/git.js';

/** What the scripted agent does: it replaces a text in a file (`*` is the name), hangs, or changes nothing (null). */
type Act = readonly [file: string, from: string, to: string] | 'hang' | null;
/** Whether an attempt shows that the agent did so and was caught; null if no agent may be started. */
type Caught = ((attempt: ReportAttempt) => boolean) | null;

const isRefused = ({ end, files, cut }: ReportAttempt) =>
  files.length + cut.length > 0 && end.kind !== 'green';
const isClaim = ({ end, claim }: ReportAttempt) => claim?.status === 'fixed' && end.kind !== 'green';
const isEnded = ({ exit }: ReportAttempt) => exit === 'timed-out';
const [spec, app, no] = ['tests/*.spec.mjs', 'app/*.mjs', "'no'"];
const cold = "existsSync(seen) ? 'yes' : (writeFileSync(seen, ''), 'no')";
const asks = "process.env.TEST_WORKER_INDEX ? 'yes' : 'no'";

/** Seven bad fixes. The test of each expects `yes` of `app/<name>.mjs`, which answers with this expression instead. */
const fixes: readonly (readonly [name: string, planted: string, answer: string, Act, Caught])[] = [
  ['loosen', 'an agent loosens the test', no, [spec, ".toBe('yes')", '.toBeTruthy()'], isRefused],
  ['skip', 'an agent skips the test', no, [spec, 'test(', 'test.skip('], isRefused],
  ['ask', 'an agent makes the app ask whether it is tested', no, [app, no, asks], isRefused],
  ['claim', 'an agent says that it fixed it, and changed nothing', no, null, isClaim],
  ['hang', 'an agent hangs, ignores SIGTERM and hides a child process', no, 'hang', isEnded],
  ['break', 'a fix breaks another test', 'shared()', ['app/shared.mjs', no, "'yes'"], wasReverted],
  ['flake', 'a test fails once and then passes', cold, null, null],
];

/** The files of a scratch project with these faults and their agent. */
function scratchFiles(runner: string): Readonly<Record<string, string>> {
  const test = (title: string, from: string, answers: string) =>
    `import { expect, test } from '${runner}';
import { ${from} } from '../app/${title}.mjs';
test('${title}', () => expect(${from}(), '${title}').toBe('${answers}'));\n`;
  const answering = (answer: string) =>
    `import { existsSync, writeFileSync } from 'node:fs';
import { shared } from './shared.mjs';
const seen = new URL('../../seen', import.meta.url);
export const answer = () => (${answer});\n`;
  const acts = Object.fromEntries(fixes.map(([name, , , act]) => [name, act]));
  const agent = `import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
const { file } = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8')).test;
const name = file.slice(6, -9);
const act = ${JSON.stringify(acts)}[name];
if (act === 'hang') {
  const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
  spawn(process.execPath, ['-e', deaf], { detached: true, stdio: 'ignore' });
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
} else {
  const changed = act?.[0].replace('*', name);
  if (act) writeFileSync(changed, readFileSync(changed, 'utf8').replace(act[1], act[2]));
  console.log('SELF-HEAL: {"status":"fixed","summary":"Fix applied successfully"}');
}\n`;
  const command = JSON.stringify([process.execPath, 'agent.mjs']);
  const settings = `{ version: 1, runner: scripted, runners: { scripted: { command: ${command}, prompt: stdin } },
agents: { scripted: { slashCommand: /scripted, timeout: 10s } }, routes: { ${categories.map((one) => `${one}: [scripted]`).join(', ')} },
retries: { max: 1, backoff: { initial: 0s, factor: 1, max: 0s } }, verify: { confirm: 1, repeat: 1, flips: 1 } }\n`;
  return {
    'package.json': '{ "name": "self-test", "private": true, "type": "module" }\n',
    'playwright.config.mjs': "export default { testDir: 'tests', fullyParallel: true, reporter: 'line' };\n",
    'agents.yaml': settings,
    'agent.mjs': agent,
    'app/shared.mjs': "export const shared = () => 'no';\n",
    'tests/shared.spec.mjs': test('shared', 'shared', 'no'),
    ...Object.fromEntries(fixes.map(([name, , answer]) => [`app/${name}.mjs`, answering(answer)])),
    ...Object.fromEntries(fixes.map(([name]) => [`tests/${name}.spec.mjs`, test(name, 'answer', 'yes')])),
  };
}

/** What self-heal made of each bad fix, and the scratch folder, which is kept if one was not caught. */
export interface SelfTest {
  readonly results: readonly (Record<'name' | 'planted' | 'did', string> & { readonly held: boolean })[];
  readonly kept: string | null;
}

/** Settings of self-heal, of reporters and of a CI system are not meant for the self-test's run. */
const foreign = /^(?:SELF_HEAL_|GITHUB_|PWDEBUG|PW_?TEST_|PLAYWRIGHT_(?!BROWSERS)|FORCE_COLOR$)/i;

/** Runs this self-heal as a process of its own in a scratch project, with the project's Playwright, and judges what it leaves (CL-11). */
export async function runSelfTest(
  cwd: string,
  { env, signal, onOutput }: Pick<Command, 'env' | 'signal' | 'onOutput'>,
): Promise<Result<SelfTest, Problem>> {
  const playwright = findPlaywright(cwd);
  if (!playwright.ok) return playwright;
  const [, modules = '', name = ''] =
    /^(.*[\\/]node_modules)[\\/](.+)$/.exec(playwright.value.packageDir) ?? [];
  const files = Object.entries(scratchFiles(name === 'playwright' ? 'playwright/test' : '@playwright/test'));
  try {
    const dir = await mkdtemp(path.join(await realpath(tmpdir()), 'self-heal-self-test-'));
    const placed = files.map(([file, text]) => [path.join(dir, 'project', file), text] as const);
    for (const [file, text] of placed) {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    await symlink(modules, path.join(dir, 'project/node_modules'), 'junction');
    const own = Object.entries(withoutRepository(env)).filter(([variable]) => !foreign.test(variable));
    const { orphans } = await supervise({
      file: process.execPath,
      args: [packageFile('bin/self-heal.js'), 'run', '--json'],
      cwd: path.join(dir, 'project'),
      env: { ...Object.fromEntries(own), NO_COLOR: '1' },
      input: '',
      timeoutMs: 300_000,
      graceMs: 20_000,
      signal,
      onStart: () => undefined,
      onOutput,
    }).ended;
    const run = await findRun(path.join(dir, 'project'), null);
    const report = run.ok ? run.value.report : null;
    const texts = await Promise.all(placed.map(([file]) => readFile(file, 'utf8').catch(() => null)));
    const isClean = orphans.length === 0 && placed.every(([, text], index) => texts[index] === text);
    const results = fixes.map(([title, planted, , , isCaught]) => {
      const test = report?.tests.find(({ file }) => file === `tests/${title}.spec.mjs`);
      const attempts = report?.causes.find(({ id }) => id === test?.causeId)?.attempts ?? [];
      const ends = attempts.map(({ exit, end }) => (exit === 'timed-out' ? exit : end.kind));
      const did = [test?.verdict ?? 'not run', ...ends].join(', ');
      const isHeld =
        isCaught === null ? test?.verdict === 'flaky' && ends.length === 0 : attempts.some(isCaught);
      return { name: title, planted, did, held: isClean && isHeld && test?.verdict !== 'healed' };
    });
    const kept = signal.aborted || results.every(({ held }) => held) ? null : dir;
    if (kept === null) await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    return ok({ results, kept });
  } catch (error) {
    const [message, remedy] = [`no scratch project in ${tmpdir()}`, 'Set TMPDIR to a writable folder.'];
    return err({ kind: 'folder-not-writable', message, detail: reasonOf(error), remedy });
  }
}
