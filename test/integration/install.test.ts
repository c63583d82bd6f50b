import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { agentWorkspace, writeInto } from '../rig/agent-workspace.js';
import { tempDir } from '../rig/temp-dir.js';

it('HN-1 HN-8 installs the packages of a fix and of its revert without running their scripts', async () => {
  const run = 'node started.mjs';
  const scripts = { preinstall: run, install: run, postinstall: run, prepare: run };
  const pkg = (dependencies: object) =>
    `${JSON.stringify({ name: 'shop', version: '1.0.0', scripts, dependencies })}\n`;
  const startedFile = path.join(tempDir(), 'started');
  const started = `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(startedFile)}, 'x');\n`;
  // In a form that npm rewrites.
  const lock = '{ "name": "shop", "version": "1.0.0", "lockfileVersion": 1 }\n';
  const { applied, workspace, dir, warnings } = await agentWorkspace({
    'package-lock.json': lock,
    'started.mjs': started,
    'package.json': pkg({}),
    '.gitignore': 'node_modules\n',
    'lib/greet/package.json': `${JSON.stringify({ name: 'greet', version: '1.0.0', scripts })}\n`,
    'lib/greet/started.mjs': started,
  });
  mkdirSync(path.join(dir, 'node_modules'));
  const done = await applied((cwd) =>
    writeInto(cwd, {
      'package.json': pkg({ greet: 'file:lib/greet', other: 'file:lib/other' }),
      'lib/other/package.json': `${JSON.stringify({ name: 'other', version: '1.0.0', scripts })}\n`,
      'lib/other/started.mjs': started,
      // The project's own script would execute what the fix wrote.
      'started.mjs': `${started}// changed`,
    }),
  );
  if (done.kind !== 'applied') throw new Error(done.kind);
  expect(warnings).toEqual([expect.stringContaining('running npm i')]);
  expect(existsSync(path.join(dir, 'node_modules/greet/package.json'))).toBe(true);
  expect(readFileSync(path.join(dir, 'package-lock.json'), 'utf8')).toContain('lib/greet');
  await workspace.revertTemporarily([done.change.id]);
  expect(readFileSync(path.join(dir, 'package-lock.json'), 'utf8')).toBe(lock);
  await workspace.revertTemporarily([]);
  expect(readFileSync(path.join(dir, 'package-lock.json'), 'utf8')).toContain('lib/greet');
  await workspace.revert([done.change.id]);
  expect(existsSync(path.join(dir, 'node_modules/greet'))).toBe(false);
  expect(readFileSync(path.join(dir, 'package-lock.json'), 'utf8')).toBe(lock);
  expect(existsSync(startedFile)).toBe(false);
});
