import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { committed, gitIn } from '../rig/git-repository.js';
import { scratchProject, pageFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const git = (dir: string, ...args: string[]) => gitIn(dir)(...args);

/** A repository on a branch `fix` that starts at the tip of `main`. */
async function branched() {
  const project = await scratchProject({ ...pageFiles, '.gitignore': 'node_modules\n' });
  committed(project.dir, 'all');
  git(project.dir, 'switch', '-qc', 'fix');
  return project;
}

const spec = 'tests/shop.spec.ts';
const edited = (from: string, to: string) => ({ [spec]: pageFiles[spec].replace(from, to) });

it('HN-3 guard lists each test’s changes since the branch left main, committed or not', async () => {
  const project = await branched();
  const unchanged = await project.selfHeal(['guard']);
  expect(unchanged).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('nothing has changed') });
  await project.write(edited("locator('#buy')", "getByRole('button')"));
  const honest = await project.selfHeal(['guard', '--strict']);
  expect(honest.exitCode).toBe(0);
  expect(honest.stdout).toBe(`${spec}:7 locator: page.locator('#buy') → page.getByRole('button')`);
  git(project.dir, 'commit', '-qam', 'a locator');
  await project.write(edited("getByText('Thanks')", "getByText('Thank you')"));
  const meant = await project.selfHeal(['guard', '--base', 'HEAD']);
  expect(meant.exitCode).toBe(0);
  expect(meant.stdout).toMatch(
    /different: buys \(.*\)\n {2}- await expect\(page.getByText\('Thanks'\)\).*\n {2}\+ await expect/,
  );
  expect((await project.selfHeal(['guard', '--strict'])).exitCode).toBe(1);
  await project.write({
    ...edited('await expect', '// await expect'),
    'src/new.ts': 'if (navigator.webdriver) buy();\n',
  });
  const { exitCode, stdout } = await project.selfHeal(['guard', '--json']);
  expect(exitCode).toBe(1);
  const { schemaVersion, findings, tests } = JSON.parse(stdout) as Record<string, unknown>;
  expect(schemaVersion).toBe(1);
  expect(findings).toEqual([
    expect.objectContaining({ rule: 'app-detects-tests', file: 'src/new.ts', line: 1 }),
    expect.objectContaining({ rule: 'test-weakened', file: spec }),
  ]);
  expect(tests).toEqual([expect.objectContaining({ strength: 'weaker', file: spec })]);
});

it('HN-3 guard lists new tests and protected files, and rejects changes that it cannot judge', async () => {
  const project = await branched();
  await project.write({
    'tests/new.spec.ts': "import { test } from '@playwright/test';\ntest('is new', async () => {});\n",
    'agents.yaml': 'verify: { level: quick }\n',
  });
  symlinkSync('/etc/hosts', path.join(project.dir, 'tests', 'hosts.ts'));
  const { exitCode, stdout } = await project.selfHeal(['guard']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('tests/new.spec.ts:2 new: is new');
  expect(stdout).toContain('agents.yaml protected: ');
  expect(stdout).toContain('tests/hosts.ts protected: ');
  expect((await project.selfHeal(['guard', '--strict'])).exitCode).toBe(1);
  // Too deep for the parser.
  await project.write({ [spec]: `${pageFiles[spec]}\nvoid ${'['.repeat(100_000)}${']'.repeat(100_000)};\n` });
  const deep = await project.selfHeal(['guard']);
  expect(deep.exitCode).toBe(1);
  expect(deep.stdout).toContain(`${spec} cannot-be-judged: `);
});

it('HN-3 guard reports a submodule’s new commit, but not its uncommitted changes', async () => {
  const project = await branched();
  const library = tempDir('library');
  git(library, 'init', '-q');
  git(library, 'commit', '-q', '--allow-empty', '-m', 'one');
  git(project.dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'library');
  git(project.dir, 'commit', '-qm', 'a library');
  await project.write({ 'library/notes.txt': 'mine' });
  expect((await project.selfHeal(['guard', '--base', 'HEAD'])).stdout).toBe('');
  git(path.join(project.dir, 'library'), 'commit', '-q', '--allow-empty', '-m', 'two');
  const moved = await project.selfHeal(['guard', '--base', 'HEAD']);
  expect(moved.stdout).toMatch(/^library protected: [^\n]*$/);
});

it('HN-3 guard exits with 2 and the reason if git cannot read the repository', async () => {
  const project = await branched();
  await project.write({ '.git/index': 'rubbish' });
  const guarded = await project.selfHeal(['guard']);
  expect(guarded.exitCode).toBe(2);
  expect(guarded.stderr).toMatch(/git cannot read this repository: .*index/);
});

it('HN-3 guard exits with 2 and a remedy if there is nothing to compare with', async () => {
  const project = await branched();
  const unknown = await project.selfHeal(['guard', '--base', 'nowhere']);
  expect(unknown.exitCode).toBe(2);
  expect(unknown.stderr).toContain('--base');
  const outside = await scratchProject();
  expect((await outside.selfHeal(['guard'])).exitCode).toBe(2);
});
