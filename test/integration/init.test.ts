import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { runInit, type InitOptions } from '../../src/cli/init.js';
import { parseAgentsFile } from '../../src/config/agents-file.js';
import { writeInto } from '../rig/agent-workspace.js';
import { programs } from '../rig/programs.js';
import { tempDir } from '../rig/temp-dir.js';

const config = { 'playwright.config.ts': '', 'package.json': '{}' };

interface Called {
  readonly end: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

async function project(files: Record<string, string> = config): Promise<string> {
  const dir = tempDir();
  await mkdir(path.join(dir, '.git'));
  writeInto(dir, files);
  return dir;
}

async function init(cwd: string, options: InitOptions = {}, bin = ''): Promise<Called> {
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    const spy = vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      written[stream] += String(text);
      return true;
    });
    onTestFinished(() => spy.mockRestore());
  }
  vi.spyOn(process, 'cwd').mockReturnValue(cwd);
  vi.stubEnv('PATH', bin);
  const end = await runInit(options);
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  return { end, ...written };
}

/** Every file of a folder with its text. */
async function snapshot(dir: string): Promise<Record<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
  const texts = files
    .sort()
    .map(async (file) => [path.relative(dir, file), await readFile(file, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
}

it.each([
  ['claude', '.claude/commands/debugger.md'],
  ['codex', '.codex/prompts/debugger.md'],
  ['gemini', '.gemini/commands/debugger.toml'],
  ['opencode', '.opencode/command/debugger.md'],
  ['copilot', '.github/prompts/debugger.prompt.md'],
])('CL-10 sets up a project for %s, and changes nothing the second time', async (agent, file) => {
  const dir = await project();
  expect((await init(dir, { agent })).end).toBe(0);
  const once = await snapshot(dir);
  expect(Object.keys(once)).toContain(path.normalize(file));
  expect(Object.keys(once)).toHaveLength(2 + 1 + 5 + 1 + 1);
  expect(parse(once['agents.yaml'] ?? '')).toMatchObject({ runner: agent, verify: { review: 'always' } });
  expect(once['agents.yaml']?.includes('Apart from the runner')).toBe(agent !== 'claude');
  // Without the flag, init uses what agents.yaml says.
  const second = await init(dir, {}, programs({ claude: '', copilot: '' }));
  expect(second.end).toBe(0);
  expect(second.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('unchanged '))).toEqual(
    [],
  );
  expect(await snapshot(dir)).toEqual(once);
});

it('CL-10 writes a valid agents.yaml whose first line points at the schema', async () => {
  const dir = await project({
    'packages/wéb app/playwright.config.cts': '',
    'node_modules/self-heal/schema/agents.schema.json': '{}',
  });
  const cwd = path.join(dir, 'packages/wéb app');
  await init(cwd, { agent: 'claude' });
  const text = await readFile(path.join(cwd, 'agents.yaml'), 'utf8');
  expect(parseAgentsFile(text, {})).toMatchObject({ ok: true, value: { runner: 'claude' } });
  expect(text.split('\n')[0]).toBe(
    '# yaml-language-server: $schema=../../node_modules/self-heal/schema/agents.schema.json',
  );
});

it('CL-10 chooses the first program that it finds', async () => {
  const dir = await project();
  const bin = programs({ opencode: '', gemini: '' });
  expect((await init(dir, {}, bin)).stderr).toContain('Agent programs: gemini, opencode; set up for gemini');
  const other = await project();
  const { stderr } = await init(other, { agent: 'claude' });
  expect(stderr).toContain('npm install -g @anthropic-ai/claude-code');
});

it('CL-10 BF-1 sets up the built-in fixer if no program is installed, and later an agent by name', async () => {
  const dir = await project({ ...config, '.github/x': '' });
  const { end, stderr } = await init(dir, { ci: true });
  expect(end).toBe(0);
  expect(stderr).toContain('init --agent claude');
  const text = await readFile(path.join(dir, 'agents.yaml'), 'utf8');
  expect(parseAgentsFile(text, {})).toMatchObject({ ok: true, value: { runner: 'built-in' } });
  expect(text).toMatch(/^# .*init --agent claude --force\nrunner: built-in$/m);
  const workflow = await readFile(path.join(dir, '.github/workflows/self-heal.yml'), 'utf8');
  const { jobs } = parse(workflow) as { jobs: Record<string, { steps: Record<string, unknown>[] }> };
  const steps = jobs['self-heal']?.steps ?? [];
  expect(steps.some(({ run }) => String(run).includes('self-heal run'))).toBe(true);
  expect(steps.some(({ env, run }) => env !== undefined || String(run).includes('--global'))).toBe(false);
  const once = await snapshot(dir);
  expect(Object.keys(once)).toHaveLength(3 + 2 + 2 + 1);
  // A program that was installed since is set up only on request.
  expect((await init(dir, {}, programs({ codex: '' }))).stderr).toContain('init --agent codex');
  expect(await snapshot(dir)).toEqual(once);
  const shown = await init(dir, { agent: 'codex' });
  expect(shown.stdout).toMatch(
    /^kept agents\.yaml; --force changes it like this:$[^]*^-runner: built-in$[^]*^\+runner: codex$/m,
  );
  const added = await init(dir, { agent: 'codex', force: true });
  expect(added.stdout).toMatch(/^overwrote agents\.yaml$/m);
  expect(await readFile(path.join(dir, 'agents.yaml'), 'utf8')).toMatch(/^runner: codex$/m);
});

it('CL-10 names files that somebody has changed, which only --force overwrites', async () => {
  const dir = await project();
  await init(dir, { agent: 'claude' });
  const wanted = await snapshot(dir);
  await writeFile(path.join(dir, 'agents.yaml'), 'version: 1\n');
  await rm(path.join(dir, '.claude/commands/database.md'));
  const { stdout, stderr } = await init(dir, { agent: 'claude' });
  expect(stderr).toContain('agents.yaml was changed by hand and stays as it is; --force sets up claude');
  expect(stdout).toMatch(/^kept agents\.yaml; --force/m);
  expect(stdout).toMatch(/^wrote \.claude\/commands\/database\.md$/m);
  expect(await snapshot(dir)).toEqual({ ...wanted, 'agents.yaml': 'version: 1\n' });
  expect((await init(dir, { agent: 'claude', force: true })).stdout).toMatch(/^overwrote agents\.yaml$/m);
  expect(await snapshot(dir)).toEqual(wanted);
});

it('CL-10 treats files with CRLF line endings as unchanged, and keeps those of .gitignore', async () => {
  const dir = await project({ ...config, '.gitignore': 'dist\r\nnode_modules' });
  await init(dir, { agent: 'claude' });
  expect(await readFile(path.join(dir, '.gitignore'), 'utf8')).toBe(
    'dist\r\nnode_modules\r\n.self-heal/\r\n',
  );
  const file = path.join(dir, 'agents.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll('\n', '\r\n'));
  const { stdout } = await init(dir, { agent: 'claude' });
  expect(stdout).toMatch(/^unchanged agents\.yaml$/m);
  expect(stdout).toMatch(/^unchanged \.gitignore$/m);
});

it.each(['.self-heal/', '/packages/web/.self-heal', '**/.self-heal/', '**/.self-heal/**'])(
  'CL-10 writes no .gitignore if one above the package, within the repository, has %s',
  async (entry) => {
    const dir = await project({ '.gitignore': `${entry}\n`, 'packages/web/playwright.config.ts': '' });
    await execa('git', ['init', '--quiet'], { cwd: dir });
    await init(path.join(dir, 'packages/web'), { agent: 'claude' }, process.env['PATH']);
    expect(Object.keys(await snapshot(dir)).filter((file) => file.endsWith('.gitignore'))).toEqual([
      '.gitignore',
    ]);
  },
);

it.each(['# .self-heal/', '.self-heal/latest', 'x/.self-heal/', '.self-heal\n!.self-heal', '.self-heals/'])(
  'CL-10 adds the entry to a .gitignore with %j, which does not ignore the folder',
  async (lines) => {
    const dir = await project({ ...config, '.gitignore': `${lines}\n` });
    await execa('git', ['init', '--quiet'], { cwd: dir });
    await init(dir, { agent: 'claude' }, process.env['PATH']);
    expect(await readFile(path.join(dir, '.gitignore'), 'utf8')).toBe(`${lines}\n.self-heal/\n`);
  },
);

it('CL-10 --dry-run prints the text of every file and writes nothing', async () => {
  const dir = await project();
  const before = await snapshot(dir);
  const { stdout, end } = await init(dir, { agent: 'gemini', ci: 'github', dryRun: true });
  expect(end).toBe(0);
  expect(stdout).toMatch(/^would write agents\.yaml$/m);
  expect(stdout).toContain('--- .gemini/commands/code-review.toml\ndescription = ');
  expect(stdout).toContain('--- .github/workflows/self-heal.yml\n');
  expect(await snapshot(dir)).toEqual(before);
});

it('CL-10 writes no agents.yaml if there is an agents.yml', async () => {
  const dir = await project({ ...config, 'agents.yml': 'version: 1\n' });
  await init(dir, { agent: 'claude' });
  expect(Object.keys(await snapshot(dir))).not.toContain('agents.yaml');
});

it.each([
  ['package-lock.json', 'npm ci', 'npx self-heal run'],
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile', 'pnpm exec self-heal run'],
  ['yarn.lock', 'yarn install --frozen-lockfile', 'yarn self-heal run'],
  ['bun.lock', 'bun install --frozen-lockfile', 'bunx self-heal run'],
])(
  'CL-10 with %s, writes a workflow that uses its package manager and gives the agent no token',
  async (lock, install, run) => {
    const dir = await project({ [lock]: '', 'packages/web app/playwright.config.ts': '', '.github/x': '' });
    const { end } = await init(path.join(dir, 'packages/web app'), { agent: 'claude', ci: true });
    expect(end).toBe(0);
    const text = await readFile(path.join(dir, '.github/workflows/self-heal.yml'), 'utf8');
    const { permissions, jobs } = parse(text) as {
      permissions: unknown;
      jobs: Record<string, { defaults: unknown; permissions?: unknown; steps: Record<string, unknown>[] }>;
    };
    const job = jobs['self-heal'];
    expect(permissions).toEqual({ contents: 'read' });
    expect(job?.permissions).toBeUndefined();
    expect(job?.defaults).toEqual({ run: { 'working-directory': 'packages/web app' } });
    const steps = job?.steps ?? [];
    expect(steps[0]).toMatchObject({
      uses: 'actions/checkout@v4',
      with: { 'persist-credentials': false, 'fetch-depth': 0 },
    });
    expect(steps).toContainEqual({ run: install, 'working-directory': '${{ github.workspace }}' });
    const agent = steps.find((step) => String(step['run']).includes(run));
    expect(agent?.['env']).toEqual({
      ANTHROPIC_API_KEY: '${{ secrets.ANTHROPIC_API_KEY }}',
      SELF_HEAL_RUNNER: "${{ !secrets.ANTHROPIC_API_KEY && 'built-in' || '' }}",
    });
    expect(text).not.toMatch(/GITHUB_TOKEN|github\.token/);
  },
);

it.each([
  [
    'git@gitlab.example.com:shop/web.git',
    { '.github/dependabot.yml': '' },
    '.gitlab/self-heal.gitlab-ci.yml',
  ],
  ['https://github.com/shop/web.git', { '.gitlab-ci.yml': '' }, '.github/workflows/self-heal.yml'],
  [
    'https://code.example.com/gitlab/web.git',
    { '.github/dependabot.yml': '' },
    '.github/workflows/self-heal.yml',
  ],
])(
  'CL-10 writes the workflow for the forge of the remote %s',
  async (url, files: Record<string, string>, file) => {
    const dir = await project({ ...config, ...files });
    await rm(path.join(dir, '.git'), { recursive: true });
    await execa('git', ['init', '--quiet'], { cwd: dir });
    await execa('git', ['remote', 'add', 'origin', url], { cwd: dir });
    await init(dir, { agent: 'claude', ci: true }, process.env['PATH']);
    expect(Object.keys(await snapshot(dir))).toContain(file);
  },
);

it('CL-10 writes a job for GitLab that unsets its tokens, and says how to include it', async () => {
  const dir = await project({
    'e2e/playwright.config.js': '',
    '.gitlab-ci.yml': 'x: 1\n',
    'package-lock.json': '',
  });
  const { stderr } = await init(dir, { agent: 'gemini', ci: true, config: 'e2e/playwright.config.js' });
  expect(stderr).toContain('.gitlab-ci.yml: include');
  expect(stderr).toMatch(/docs\/ci\/gitlab-\*\.yml$/m);
  const text = await readFile(path.join(dir, '.gitlab/self-heal.gitlab-ci.yml'), 'utf8');
  const job = (parse(text) as Record<string, { script: string[] }>)['self-heal'];
  expect(job?.script.at(-1)).toMatch(
    /^env -u CI_JOB_TOKEN [^]* npx self-heal run --fail-on-heal --fail-on-flaky-tests -c e2e\/playwright\.config\.js\n$/,
  );
  expect(await readFile(path.join(dir, '.gitlab-ci.yml'), 'utf8')).toBe('x: 1\n');
});

it.each<[string, Record<string, string>, InitOptions, RegExp]>([
  ['no config', { 'package.json': '{}' }, {}, /npm init playwright@latest/],
  ['a config in a subfolder', { 'e2e/playwright.config.mjs': '' }, {}, /-c e2e\/playwright\.config\.mjs/],
  ['an unknown program', config, { agent: 'gemni' }, /Did you mean gemini\?/],
  ['an unknown CI', config, { ci: 'travis' }, /--ci github or --ci gitlab/],
  ['no CI found', config, { ci: true }, /--ci github or --ci gitlab/],
])('CL-10 %s: says what to do and writes nothing', async (_, files, options, remedy) => {
  const dir = await project(files);
  const before = await snapshot(dir);
  const { end } = await init(dir, options);
  expect(end).toMatchObject({ remedy: expect.stringMatching(remedy) as unknown });
  expect(await snapshot(dir)).toEqual(before);
});

it('CL-10 lists the written files if a file is in the place of a folder', async () => {
  const dir = await project({ ...config, '.claude': 'a file' });
  const { end } = await init(dir, { agent: 'claude' });
  expect(end).toMatchObject({
    kind: 'folder-not-writable',
    remedy: expect.stringMatching(/Nothing was written/) as unknown,
  });
});

// Root may write anywhere.
it.skipIf(process.getuid?.() === 0)(
  'CL-10 names the file that cannot be written in a read-only folder',
  async () => {
    const dir = await project();
    await chmod(dir, 0o555);
    const { end } = await init(dir, { agent: 'claude' });
    await chmod(dir, 0o755);
    expect(end).toMatchObject({ kind: 'folder-not-writable', message: 'agents.yaml cannot be written' });
  },
);

it.each([
  ['.gitignore', '../mine'],
  ['.claude', '../folder'],
  ['agents.yaml', '../nothing'],
])(
  'CL-10 HN-10 writes nothing through a link in place of %s that leads out of the project',
  async (name, target) => {
    const dir = await project();
    await mkdir(path.join(dir, 'inner/.git'), { recursive: true });
    const inner = path.join(dir, 'inner');
    await writeFile(path.join(inner, 'playwright.config.ts'), 'export default {};');
    await writeFile(path.join(dir, 'mine'), 'precious\n');
    await mkdir(path.join(dir, 'folder'));
    await symlink(target, path.join(inner, name));
    const before = await snapshot(dir);
    const { end } = await init(inner, { agent: 'claude' });
    expect(end).toMatchObject({ kind: 'folder-not-writable', message: expect.stringContaining('leads out') });
    expect(await snapshot(dir)).toEqual(before);
  },
);
