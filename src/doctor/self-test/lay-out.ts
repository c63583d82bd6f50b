import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { ownFile } from '../../own-files.js';
import type { Playwright } from '../../playwright/find-playwright.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { probe } from '../probe.js';
import type { SelfTestBrowser } from './self-test-browser.js';
import { reasonOf } from '../../reason-of.js';

/** A copy of the self-test's project in a temporary folder. */
export interface Scratch {
  /** The whole folder; absolute. */
  readonly dir: string;
  /** The project inside it; absolute. */
  readonly project: string;
  /** The folder for what must survive a revert: the flaky test's state and the process ids of the hanging agent. */
  readonly state: string;
  /** The planted files, by their paths in the project, with forward slashes. */
  readonly planted: ReadonlyMap<string, string>;
}

/** What a copy is made from. */
export interface Ingredients {
  readonly playwright: Playwright;
  readonly browser: SelfTestBrowser;
  readonly env: NodeJS.ProcessEnv;
  /** The folder of the self-test's project; defaults to that of this build. */
  readonly source?: string;
}

/** Creates a folder in the system's temporary folder. */
export async function makeScratchDir(): Promise<Result<string, Problem>> {
  try {
    return ok(await mkdtemp(path.join(await realpath(tmpdir()), 'self-heal-self-test-')));
  } catch (error) {
    return err(notWritable(tmpdir(), error));
  }
}

/** Copies the planted project to `dir`, set up with the user's Playwright and browser and a free port. */
export async function layOut(dir: string, ingredients: Ingredients): Promise<Result<Scratch, Problem>> {
  const { playwright, browser, env, source } = ingredients;
  const from = source ?? ownFile('doctor/self-test/project/');
  const [project, state] = [path.join(dir, 'project'), path.join(dir, 'state')];
  try {
    await mkdir(state, { recursive: true });
    const planted = await plant(from, project);
    const settings = { port: await freePort(), browser, state };
    await writeFile(path.join(project, 'self-test.json'), `${JSON.stringify(settings, null, 2)}\n`);
    await linkPlaywright(project, playwright);
    // Its own repository, since the temporary folder may be in one that ignores it. Without git, the self-test shows what no longer works.
    await probe(['git', 'init', '--quiet'], { cwd: project, env });
    return ok({ dir, project, state, planted });
  } catch (error) {
    await rm(dir, { recursive: true, force: true }).catch(() => undefined);
    return err(notWritable(dir, error));
  }
}

/** The problem of a full disk, missing permissions, or a file system without links. */
function notWritable(dir: string, error: unknown): Problem {
  return {
    kind: 'folder-not-writable',
    message: `the scratch copy could not be made in ${dir}`,
    detail: reasonOf(error),
    remedy: 'Set TMPDIR to a writable folder.',
  };
}

/** Writes the files anew: some package stores are read-only, and copies of their files would be too. */
async function plant(from: string, to: string): Promise<Map<string, string>> {
  const planted = new Map<string, string>();
  for (const name of await readdir(from, { recursive: true })) {
    if ((await stat(path.join(from, name))).isDirectory()) continue;
    const text = withThisNode(await readFile(path.join(from, name), 'utf8'), name);
    await mkdir(path.dirname(path.join(to, name)), { recursive: true });
    await writeFile(path.join(to, name), text);
    planted.set(name.replaceAll(path.sep, '/'), text);
  }
  return planted;
}

/** The agent runs on the Node that runs self-heal, which may not be on PATH. */
function withThisNode(text: string, name: string): string {
  return name === 'agents.yaml'
    ? text.replace('[node,', () => `[${JSON.stringify(process.execPath)},`)
    : text;
}

/**
 * Links it under its own name and as `playwright`, which the specs import: a project may have either one installed, and
 * `@playwright/test` depends on `playwright`.
 */
async function linkPlaywright(project: string, { packageDir }: Playwright): Promise<void> {
  const manifest = path.join(packageDir, 'package.json');
  const { name } = JSON.parse(await readFile(manifest, 'utf8')) as { name: string };
  const beneath =
    name === 'playwright'
      ? packageDir
      : path.dirname(createRequire(await realpath(manifest)).resolve('playwright/package.json'));
  const links = new Map([
    [name, packageDir],
    ['playwright', beneath],
  ]);
  for (const [as, target] of links) {
    const link = path.join(project, 'node_modules', as);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(target, link, 'junction');
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
