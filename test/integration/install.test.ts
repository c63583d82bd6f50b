import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { agentWorkspace, writeInto } from '../rig/agent-workspace.js';
import { processesWith } from '../rig/processes-with.js';

it('HN-1 HN-8 AG-10 runs the project’s install, after a warning, for a fix that changes packages and for its revert, which restores the lock file; nothing of it keeps running', async () => {
  const scripts = { postinstall: 'node daemon.mjs' };
  const pkg = (dependencies: object) =>
    `${JSON.stringify({ name: 'shop', version: '1.0.0', scripts, dependencies })}\n`;
  // In a form that npm rewrites.
  const lock = '{ "name": "shop", "version": "1.0.0", "lockfileVersion": 1 }\n';
  const { applied, workspace, dir, warnings } = await agentWorkspace({
    'package-lock.json': lock,
    'daemon.mjs': `
      import { spawn } from 'node:child_process';
      import { appendFileSync } from 'node:fs';
      const env = { ...process.env, DAEMON_OF: process.cwd() };
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore', env }).unref();
      appendFileSync('started', 'x');`,
    'package.json': pkg({}),
    '.gitignore': 'node_modules\n',
    'lib/greet/package.json': '{ "name": "greet", "version": "1.0.0" }\n',
  });
  mkdirSync(path.join(dir, 'node_modules'));
  const done = await applied((cwd) => writeInto(cwd, { 'package.json': pkg({ greet: 'file:lib/greet' }) }));
  if (done.kind !== 'applied') throw new Error(done.kind);
  expect(warnings).toEqual([expect.stringContaining('running npm i')]);
  expect(existsSync(path.join(dir, 'node_modules/greet/package.json'))).toBe(true);
  expect(readFileSync(path.join(dir, 'package-lock.json'), 'utf8')).toContain('lib/greet');
  await workspace.without([done.change.id]);
  expect(readFileSync(path.join(dir, 'package-lock.json'), 'utf8')).toBe(lock);
  await workspace.without([]);
  expect(readFileSync(path.join(dir, 'package-lock.json'), 'utf8')).toContain('lib/greet');
  await workspace.revert([done.change.id]);
  expect(existsSync(path.join(dir, 'node_modules/greet'))).toBe(false);
  expect(readFileSync(path.join(dir, 'package-lock.json'), 'utf8')).toBe(lock);
  expect(readFileSync(path.join(dir, 'started'), 'utf8')).toBe('xxxx');
  if (process.platform === 'linux') expect(processesWith(`DAEMON_OF=${realpathSync(dir)}`)).toEqual([]);
});
