import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { scratchProject, pageFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const git = (dir: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: dir });

/** A repository on a branch `fix` that starts at the tip of `main`. */
async function branched() {
  const project = await scratchProject({ ...pageFiles, '.gitignore': 'node_modules\n' });
  git(project.dir, 'init', '-q', '-b', 'main');
  git(project.dir, 'add', '-A');
  git(project.dir, 'commit', '-qm', 'all');
  git(project.dir, 'switch', '-qc', 'fix');
  return project;
}

const spec = 'tests/shop.spec.ts';
const edited = (from: string, to: string) => ({ [spec]: pageFiles[spec].replace(from, to) });

it('HN-3 judges all changes since the branch left main, committed or not, and names their lines', async () => {
  const project = await branched();
  const unchanged = await project.selfHeal(['guard']);
  expect(unchanged).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('nothing has changed') });
  await project.write(edited("locator('#buy')", "getByRole('button')"));
  const honest = await project.selfHeal(['guard']);
  expect(honest).toMatchObject({ exitCode: 0, stdout: '' });
  git(project.dir, 'commit', '-qam', 'a locator');
  await project.write({ 'src/new.ts': 'if (navigator.webdriver) buy();\n' });
  const { exitCode, stdout } = await project.selfHeal(['guard', '--json', '--category', 'runtime-error']);
  expect(exitCode).toBe(1);
  const { schemaVersion, findings } = JSON.parse(stdout) as { schemaVersion: number; findings: object[] };
  expect(schemaVersion).toBe(1);
  expect(findings).toEqual([
    expect.objectContaining({ rule: 'tests-read-only', file: spec, line: 7 }),
    expect.objectContaining({ rule: 'app-detects-tests', file: 'src/new.ts', line: 1 }),
  ]);
  const since = await project.selfHeal(['guard', '--base', 'HEAD']);
  expect(since.stdout).toMatch(/^src\/new\.ts:1 app-detects-tests: .+$/);
});

it('HN-3 CL-10 accepts a branch that adds what init writes, and rejects later changes to it', async () => {
  const project = await branched();
  expect((await project.selfHeal(['init', '--agent', 'claude', '--ci', 'github'])).exitCode).toBe(0);
  git(project.dir, 'add', '--all');
  git(project.dir, 'commit', '-qm', 'self-heal');
  const first = await project.selfHeal(['guard', '--json']);
  const { findings, notes } = JSON.parse(first.stdout) as { findings: object[]; notes: { file: string }[] };
  expect({ exitCode: first.exitCode, findings }).toEqual({ exitCode: 0, findings: [] });
  expect(notes.map(({ file }) => file)).toEqual(['.github/workflows/self-heal.yml', 'agents.yaml']);
  await project.write({ 'agents.yaml': 'verify: { level: none }\n' });
  const later = await project.selfHeal(['guard', '--base', 'HEAD']);
  expect(later).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^agents\.yaml protected-file: .+$/) as unknown,
  });
  git(project.dir, 'checkout', '-q', '--', 'agents.yaml');
  // agents.yml would be read instead.
  git(project.dir, 'mv', 'agents.yaml', 'agents.yml');
  expect((await project.selfHeal(['guard', '--base', 'HEAD'])).exitCode).toBe(1);
});

it('HN-3 rejects what it cannot judge: nesting too deep for the parser, and links', async () => {
  const project = await branched();
  await project.write({ [spec]: `${pageFiles[spec]}\nvoid ${'['.repeat(100_000)}${']'.repeat(100_000)};\n` });
  const deep = await project.selfHeal(['guard']);
  expect(deep.exitCode).toBe(1);
  expect(deep.stdout).toContain(`${spec} cannot-be-judged: `);
  await project.write({ [spec]: pageFiles[spec] });
  symlinkSync('/etc/hosts', path.join(project.dir, 'tests', 'hosts.ts'));
  expect((await project.selfHeal(['guard'])).stdout).toContain('tests/hosts.ts link-changed: ');
});

it('HN-3 rejects another commit of a submodule, whose changes it cannot see, but not uncommitted work in it', async () => {
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
  expect(moved.stdout).toMatch(/^library repository-changed: [^\n]*$/);
});

it('HN-3 says so, and exits with 2, if git cannot read the repository', async () => {
  const project = await branched();
  await project.write({ '.git/index': 'rubbish' });
  const guarded = await project.selfHeal(['guard']);
  expect(guarded.exitCode).toBe(2);
  expect(guarded.stderr).toMatch(/git cannot read this repository: .*index/);
});

it('HN-3 exits with 2 and says what to do if there is nothing to compare with', async () => {
  const project = await branched();
  const unknown = await project.selfHeal(['guard', '--base', 'nowhere']);
  expect(unknown.exitCode).toBe(2);
  expect(unknown.stderr).toContain('--base');
  const outside = await scratchProject();
  expect((await outside.selfHeal(['guard'])).exitCode).toBe(2);
});
