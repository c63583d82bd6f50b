import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { claudeFlagsFor, type CopiedProject } from '../../../src/agents/claude-project.js';
import { tempDir } from '../../rig/temp-dir.js';

function copied(): CopiedProject & { readonly home: string } {
  const root = path.join(tempDir('folder'), 'copy');
  mkdirSync(path.join(root, '.claude'), { recursive: true });
  return { cwd: root, root, project: tempDir('project'), home: tempDir('home') };
}

const json = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value));

it('HN-1 AG-1 applies the permissions of the project and its user to the copy', () => {
  const at = copied();
  const allow = (...rules: string[]) => ({ permissions: { allow: rules } });
  json(path.join(at.cwd, '.claude/settings.json'), allow('Bash(npx playwright test *)', 'Read'));
  json(path.join(at.cwd, '.claude/settings.local.json'), allow('Read', `Edit(/${at.project}/src/**)`));
  json(path.join(at.home, '.claude.json'), { projects: { [at.project]: { allowedTools: ['Bash(make)'] } } });
  const [flag, value = ''] = claudeFlagsFor(at, { HOME: at.home });
  expect(flag).toBe('--settings');
  expect(JSON.parse(value)).toEqual(
    allow('Bash(npx playwright test *)', 'Read', `Edit(/${at.cwd}/src/**)`, 'Bash(make)'),
  );
});

it('HN-1 EV-9 passes on the user’s MCP servers of the project in a file that only its owner can read, with paths in the copy', () => {
  const at = copied();
  const server = { command: 'db', args: ['--root', at.project], env: { KEY: 'secret' } };
  json(path.join(at.home, '.claude.json'), { projects: { [at.project]: { mcpServers: { db: server } } } });
  const flags = claudeFlagsFor(at, { CLAUDE_CONFIG_DIR: at.home });
  const file = path.join(path.dirname(at.root), 'claude-mcp.json');
  expect(flags).toEqual(['--mcp-config', file]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    mcpServers: { db: { ...server, args: ['--root', at.cwd] } },
  });
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('HN-1 AG-1 leaves the paths of folders beside the project as they are', () => {
  const at = copied();
  const beside = ['-tools', '2', '.old', 'ü'].map((end) => `${at.project}${end}/server.js`);
  const server = { command: 'node', args: [...beside, at.project, `${at.project}/server.js`] };
  json(path.join(at.home, '.claude.json'), { projects: { [at.project]: { mcpServers: { db: server } } } });
  const [, file = ''] = claudeFlagsFor(at, { HOME: at.home });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    mcpServers: { db: { ...server, args: [...beside, at.cwd, `${at.cwd}/server.js`] } },
  });
});

it.each(['', '{', '[]', '{"projects":[]}', '{"permissions":{"allow":"all"}}'])(
  'HN-1 leaves it to Claude Code to report invalid settings: %j',
  (text) => {
    const at = copied();
    writeFileSync(path.join(at.cwd, '.claude/settings.json'), text);
    writeFileSync(path.join(at.home, '.claude.json'), text);
    expect(claudeFlagsFor(at, { HOME: at.home })).toEqual([]);
  },
);
