import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentsYaml, editingAgent, projectIn, userEnv } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

/** How a project is installed, and the files that configure it. */
interface Manager {
  readonly name: string;
  readonly install: readonly [string, ...string[]];
  readonly files?: Record<string, string>;
  /** The project is a package of a workspace. */
  readonly isPackage?: boolean;
}

const berry = { 'yarn.lock': '', '.yarnrc.yml': 'nodeLinker: node-modules\nenableTelemetry: false\n' };
const managers: readonly Manager[] = [
  { name: 'npm', install: ['npm', 'install'] },
  { name: 'npm workspaces', install: ['npm', 'install'], isPackage: true },
  { name: 'pnpm', install: ['pnpm', 'install'] },
  { name: 'pnpm, hoisted', install: ['pnpm', 'install'], files: { '.npmrc': 'node-linker=hoisted\n' } },
  {
    name: 'pnpm workspace',
    install: ['pnpm', 'install'],
    files: { 'pnpm-workspace.yaml': 'packages: [packages/*]\n' },
    isPackage: true,
  },
  { name: 'yarn classic', install: ['yarn', 'install', '--non-interactive'] },
  { name: 'yarn berry', install: ['yarn', 'install'], files: berry },
];

const tools = realpathSync(mkdtempSync(path.join(tmpdir(), 'self-heal package managers ')));
/** In two folders, because both versions of yarn have the same name. */
const programs = { others: ['pnpm@10.12.1', 'yarn@1.22.22'], berry: ['@yarnpkg/cli-dist@4.9.2'] };
beforeAll(async () => {
  for (const [name, packages] of Object.entries(programs)) {
    const prefix = path.join(tools, name);
    await execa('npm', ['install', '--no-audit', '--no-fund', '--prefix', prefix, ...packages]);
  }
});
afterAll(() => rmSync(tools, { recursive: true, force: true }));

const app = {
  '.gitignore': 'node_modules\ntest-results\n',
  'playwright.config.ts': `import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, reporter: [['list']] });`,
  'word.mjs': `export const word = 'Tanks';\n`,
  'fixer.mjs': editingAgent([['word.mjs', 'Tanks', 'Thanks']]),
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
  'tests/words.spec.ts': `import { test, expect } from '@playwright/test';
    import { word } from '../word.mjs';
    test('says thanks', () => expect(word).toBe('Thanks'));
    test('counts', async () => {
      const { default: ms } = await import('ms');
      expect(ms('1s')).toBe(1000);
    });`,
};
const workspace = '{ "name": "top", "private": true, "workspaces": ["packages/*"] }\n';
const manifest = `${JSON.stringify({ name: 'app', private: true, type: 'module', devDependencies: { '@playwright/test': '1.65', 'is-number': '7.0.0' } }, null, 2)}\n`;

it.each(managers)(
  'HN-1 with $name, only a dependency fix installs packages, and undo uninstalls them',
  async ({ install, files = {}, isPackage = false, name }) => {
    const at = isPackage ? 'packages/app' : '.';
    const top = tempDir('managed größe');
    const project = projectIn(path.join(top, at));
    await projectIn(top).write({ ...(isPackage ? { 'package.json': workspace } : {}), ...files });
    await project.write({ ...app, 'package.json': manifest });
    const bin = path.join(tools, name === 'yarn berry' ? 'berry' : 'others', 'node_modules', '.bin');
    const env = { PATH: `${bin}${path.delimiter}${process.env['PATH'] ?? ''}` };
    const [command, ...args] = install;
    await execa(command, args, { cwd: top, env: { ...userEnv(), ...env }, extendEnv: false });
    const before = installation(top);

    const first = await project.selfHeal(['run', '-g', 'says thanks'], env);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.report?.causes.map(({ verdict }) => verdict)).toEqual(['healed']);
    expect(installation(top)).toEqual(before);

    // The test needs a package that is not installed, so the fix changes package.json.
    await project.write({
      'fixer.mjs': editingAgent([
        ['package.json', '"is-number": "7.0.0"', '"is-number": "7.0.0",\n    "ms": "2.1.3"'],
      ]),
    });
    const second = await project.selfHeal(['run', '-g', 'counts'], env);
    expect(second.exitCode, second.stderr).toBe(0);
    expect(second.report?.warnings.join('\n')).toContain(`running ${command} i`);
    expect(hasPackage([project.dir, top], 'ms')).toBe(true);

    const undone = await project.selfHeal(['undo', '--yes'], env);
    expect(undone.exitCode, undone.stderr).toBe(0);
    expect(await project.read('package.json')).toBe(manifest);
    expect(hasPackage([project.dir, top], 'ms')).toBe(false);
  },
);

function hasPackage(folders: readonly string[], name: string): boolean {
  return folders.some((folder) => existsSync(path.join(folder, 'node_modules', name, 'package.json')));
}

/** Every file in every node_modules folder, with its mode and its hash or link target. */
function installation(top: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (folder: string, isPackages: boolean) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const place = path.join(folder, entry.name);
      const inside = isPackages || entry.name === 'node_modules';
      if (entry.isDirectory() && (inside || !entry.name.startsWith('.'))) visit(place, inside);
      else if (inside && !entry.isDirectory()) found[path.relative(top, place)] = stateOf(place);
    }
  };
  visit(top, false);
  return found;
}

function stateOf(place: string): string {
  const info = lstatSync(place);
  if (info.isSymbolicLink()) return `link ${readlinkSync(place)}`;
  return `${info.mode.toString(8)} ${createHash('sha1').update(readFileSync(place)).digest('hex')}`;
}
