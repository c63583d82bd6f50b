import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { agentWorkspace, writeInto } from '../rig/agent-workspace.js';
import { isAlive } from '../rig/working-agent.js';

it('HN-1 runs the project’s install, after a warning, for a fix that changes packages, and again for its revert', async () => {
  const pkg = (dependencies: object) =>
    `${JSON.stringify({ name: 'shop', version: '1.0.0', dependencies })}\n`;
  const { applied, workspace, dir, warnings } = await agentWorkspace({
    'package.json': pkg({}),
    '.gitignore': 'node_modules\n',
    'lib/greet/package.json': '{ "name": "greet", "version": "1.0.0" }\n',
  });
  mkdirSync(path.join(dir, 'node_modules'));
  const done = await applied((cwd) => writeInto(cwd, { 'package.json': pkg({ greet: 'file:lib/greet' }) }));
  if (done.kind !== 'applied') throw new Error(done.kind);
  expect(warnings).toEqual([expect.stringContaining('running npm i')]);
  expect(existsSync(path.join(dir, 'node_modules/greet/package.json'))).toBe(true);
  await workspace.revert([done.change.id]);
  expect(existsSync(path.join(dir, 'node_modules/greet'))).toBe(false);
});

it('AG-10 leaves no process of the project’s install', async () => {
  const start =
    "const { pid } = require('node:child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });" +
    "require('node:fs').writeFileSync('pid', String(pid)); process.exit();";
  const pkg = (dependencies: object) => `${JSON.stringify({ ...scripts, dependencies })}\n`;
  const scripts = { name: 'shop', version: '1.0.0', scripts: { postinstall: 'node start.cjs' } };
  const { applied, read } = await agentWorkspace({
    'package.json': pkg({}),
    'start.cjs': start,
    '.gitignore': 'node_modules\npid\n',
    'lib/greet/package.json': '{ "name": "greet", "version": "1.0.0" }\n',
  });
  await applied((cwd) => writeInto(cwd, { 'package.json': pkg({ greet: 'file:lib/greet' }) }));
  const pid = Number(read('pid'));
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')));
  expect(isAlive(pid)).toBe(false);
});
