import {
  appendFileSync,
  chmodSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { agentWorkspace, inventoryOf, writeInto } from '../rig/agent-workspace.js';

const files = {
  'package.json': '{ "name": "shop" }\n',
  '.gitignore': 'node_modules\n.env*\ndata/\nbuild/\n*.log\n',
  'src/cart.js': 'one\ntwo\nthree\n',
  'src/total.js': 'total\n',
  'src/deep/er/er.js': 'deep\n',
  'tests/cart.spec.js': 'test\n',
  'run.sh': '#!/bin/sh\n',
  'latin.txt': 'caf\u00e9\n',
  'crlf.txt': 'a\r\nb\r\n',
  'empty.txt': '',
  '.env': 'PORT=1\n',
  '.env.local': 'KEY=2\n',
  'data/orders.db': 'orders\n',
  'data/deep/more.db': 'more\n',
  'build/out.js': 'built\n',
  'debug.log': 'log\n',
  'node_modules/left-pad/index.js': 'pad\n',
  'node_modules/left-pad/package.json': '{}\n',
};

const at = (cwd: string, ...parts: string[]) => path.join(cwd, ...parts);
const git = (cwd: string, ...args: string[]) =>
  void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd, stdio: 'ignore' });
const sh = (cwd: string, command: string) =>
  void execFileSync('/bin/sh', ['-c', command], { cwd, stdio: 'ignore', timeout: 60_000 });

type Misbehavior = readonly [what: string, work: (cwd: string) => void];

/** What agents have been seen to do, or could do. What one agent can do at once is together. */
const misbehavior: readonly (readonly Misbehavior[])[] = [
  [
    ['fills an empty file', (cwd) => writeFileSync(at(cwd, 'empty.txt'), 'x')],
    ['changes line endings', (cwd) => writeFileSync(at(cwd, 'crlf.txt'), 'a\nb\n')],
    [
      'changes an encoding',
      (cwd) => writeFileSync(at(cwd, 'latin.txt'), Buffer.from('caf\u00e9\n', 'latin1')),
    ],
    [
      'adds a file with an odd name',
      (cwd) => writeInto(cwd, { ' -rf\n"\' $(x) ünï.js': 'x', '--output=x': 'x' }),
    ],
    ['adds deep folders', (cwd) => writeInto(cwd, { [`${'d/'.repeat(60)}x.js`]: 'x' })],
    [
      'changes a file and restores its timestamps',
      (cwd) => {
        const place = at(cwd, 'src/cart.js');
        writeFileSync(place, 'two\none\nthree\n');
        utimesSync(place, 1, 1);
      },
    ],
    ['makes a script executable', (cwd) => chmodSync(at(cwd, 'run.sh'), 0o755)],
    ['links within the tree', (cwd) => symlinkSync('cart.js', at(cwd, 'src/alias.js'))],
    ['links to nothing', (cwd) => symlinkSync('nowhere', at(cwd, 'src/nowhere'))],
    ['links to itself', (cwd) => symlinkSync('loop', at(cwd, 'src/loop'))],
    ['makes hard links', (cwd) => linkSync(at(cwd, 'src/cart.js'), at(cwd, 'src/same.js'))],
    [
      'changes the timestamps of a link',
      (cwd) => {
        symlinkSync('cart.js', at(cwd, 'src/l'));
        lutimesSync(at(cwd, 'src/l'), 1, 1);
      },
    ],
    [
      'edits .env files',
      (cwd) => writeInto(cwd, { '.env': 'PORT=9\n', '.env.local': 'KEY=9\n', '.env.new': 'x\n' }),
    ],
  ],
  [
    ['checks out another branch', (cwd) => git(cwd, 'checkout', '-qb', 'other')],
    ['rewrites history', (cwd) => git(cwd, 'commit', '--amend', '-qm', 'x', '--allow-empty')],
    [
      'adds hooks and settings',
      (cwd) =>
        sh(cwd, 'mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; git config core.fsmonitor /bin/false'),
    ],
    ['leaves a stale lock', (cwd) => writeInto(cwd, { '.git/index.lock': '' })],
    ['adds empty folders', (cwd) => sh(cwd, 'mkdir -p a/b/c')],
    ['touches everything', (cwd) => sh(cwd, 'find . -exec touch {} +')],
    ['makes a private file writable by all', (cwd) => chmodSync(at(cwd, '.env'), 0o666)],
    ['makes a FIFO', (cwd) => sh(cwd, 'mkfifo src/pipe')],
    ['edits data in place', (cwd) => appendFileSync(at(cwd, 'data/orders.db'), 'x')],
    ['adds data', (cwd) => writeInto(cwd, { 'data/x.db': 'x', 'build/y.js': 'y' })],
    ['edits a package in place', (cwd) => appendFileSync(at(cwd, 'node_modules/left-pad/index.js'), 'x')],
    [
      'adds packages',
      (cwd) => writeInto(cwd, { 'node_modules/evil/index.js': 'x', 'src/node_modules/evil/i.js': 'x' }),
    ],
    [
      'writes into .self-heal',
      (cwd) => writeInto(cwd, { '.self-heal/journal.json': '{}', '.self-heal/lock': 'x' }),
    ],
    [
      'writes into the output folders of Playwright',
      (cwd) => writeInto(cwd, { 'test-results/a': 'x', 'playwright-report/b': 'x' }),
    ],
    ['makes a folder unwritable', (cwd) => chmodSync(at(cwd, 'src'), 0o555)],
  ],
  [
    ['renames a file', (cwd) => renameSync(at(cwd, 'src/cart.js'), at(cwd, 'src/basket.js'))],
    ['deletes .env files', (cwd) => sh(cwd, 'rm .env .env.local')],
    [
      'writes garbage',
      (cwd) => writeFileSync(at(cwd, 'src/total.js'), Buffer.from([0, 255, 254, 10, 0, 195])),
    ],
    ['adds a BOM', (cwd) => writeFileSync(at(cwd, 'src/deep/er/er.js'), '\uFEFFone\n')],
    ['sets user ids', (cwd) => chmodSync(at(cwd, 'run.sh'), 0o4755)],
  ],
  [
    ['deletes a file', (cwd) => unlinkSync(at(cwd, 'src/cart.js'))],
    ['empties a file', (cwd) => truncateSync(at(cwd, 'src/total.js'))],
    ['makes a repository inside', (cwd) => sh(cwd, 'git init -q src/deep; echo x > src/deep/new.js')],
  ],
  [
    ['edits a file in place', (cwd) => appendFileSync(at(cwd, 'src/cart.js'), 'x')],
    ['deletes data', (cwd) => sh(cwd, 'rm -rf data build *.log')],
    ['deletes the installation', (cwd) => rmSync(at(cwd, 'node_modules'), { recursive: true })],
    ['damages the repository', (cwd) => writeInto(cwd, { '.git/HEAD': 'rubbish', '.git/index': 'rubbish' })],
  ],
  [['deletes a folder', (cwd) => rmSync(at(cwd, 'src'), { recursive: true })]],
  [['deletes everything', (cwd) => rmSync(cwd, { recursive: true })]],
  [['deletes everything above it', (cwd) => sh(cwd, 'rm -rf ../* ../.[!.]*')]],
  [['deletes what it can reach two folders up', (cwd) => sh(cwd, 'rm -rf ../../copy')]],
  [['renames a folder', (cwd) => renameSync(at(cwd, 'src'), at(cwd, 'lib'))]],
  [['renames a file by case only', (cwd) => renameSync(at(cwd, 'src/cart.js'), at(cwd, 'src/Cart.js'))]],
  [['swaps two files', (cwd) => sh(cwd, 'mv src/cart.js t; mv src/total.js src/cart.js; mv t src/total.js')]],
  [
    [
      'replaces a file with a folder',
      (cwd) => sh(cwd, 'rm src/cart.js; mkdir src/cart.js; echo x > src/cart.js/x'),
    ],
  ],
  [['replaces a folder with a file', (cwd) => sh(cwd, 'rm -rf src; echo x > src')]],
  [['adds 2 GB', (cwd) => sh(cwd, 'truncate -s 2G big.bin')]],
  [['makes a source file of 2 GB', (cwd) => truncateSync(at(cwd, 'src/total.js'), 2 * 1024 ** 3)]],
  [['makes everything unreadable', (cwd) => sh(cwd, 'chmod -R 000 src')]],
  [['makes everything executable', (cwd) => sh(cwd, 'chmod -R 777 .')]],
  [['links out of the tree', (cwd) => symlinkSync('/etc', at(cwd, 'src/etc'))]],
  [['links out of the tree by a relative path', (cwd) => symlinkSync('../../../..', at(cwd, 'src/up'))]],
  [['replaces a file with a link', (cwd) => sh(cwd, 'ln -sf total.js src/cart.js')]],
  [['replaces a folder with a link', (cwd) => sh(cwd, 'mv src lib; ln -s lib src')]],
  [['empties .gitignore', (cwd) => writeFileSync(at(cwd, '.gitignore'), '')]],
  [['ignores everything', (cwd) => writeInto(cwd, { '.gitignore': '*\n', 'src/hidden.js': 'x' })]],
  [['links the installation elsewhere', (cwd) => sh(cwd, 'rm -rf node_modules; ln -s /tmp node_modules')]],
  [
    [
      'commits',
      (cwd) =>
        sh(cwd, 'echo x >> src/cart.js; git add -A; git -c user.name=a -c user.email=a@a commit -qm x'),
    ],
  ],
  [['resets', (cwd) => git(cwd, 'reset', '--hard', 'HEAD')]],
  [['cleans', (cwd) => git(cwd, 'clean', '-fdxq')]],
  [['stashes', (cwd) => sh(cwd, 'echo x >> src/cart.js; git -c user.name=a -c user.email=a@a stash -qu')]],
  [['prunes', (cwd) => git(cwd, 'gc', '--prune=now', '--quiet')]],
  [['deletes the repository', (cwd) => rmSync(at(cwd, '.git'), { recursive: true })]],
  [['adds 1,100 files', (cwd) => sh(cwd, 'mkdir junk; cd junk; seq 1 1100 | xargs touch')]],
];

it.runIf(process.platform !== 'win32')(
  `HN-1 ${misbehavior.flat().length} kinds of misbehavior by agents leave the project as it was`,
  async () => {
    const { dir, agent, workspace, git: inProject } = await agentWorkspace(files);
    chmodSync(at(dir, '.env'), 0o600);
    writeFileSync(at(dir, 'staged.js'), 'staged\n');
    inProject('add', 'staged.js');
    const before = inventoryOf(dir);
    const copied = inventoryOf((await workspace.updateCopy()).cwd);
    const wrong: string[] = [];
    const outcomes = { applied: 0, conflict: 0, failed: 0, refused: 0, nothing: 0 };
    const differs = (when: string, now: Record<string, string>, was = before) => {
      const names = new Set([...Object.keys(now), ...Object.keys(was)]);
      const found = [...names].filter((name) => now[name] !== was[name]);
      if (found.length > 0) wrong.push(`${when}: ${found.slice(0, 5).join(', ')}`);
    };
    for (const together of misbehavior) {
      const what = together.map(([name]) => name).join(' and ');
      const { change, refused } = await agent((cwd) => {
        for (const [, work] of together) work(cwd);
      });
      differs(`${what}, before its patch`, inventoryOf(dir));
      const done = change && (await workspace.apply(change));
      if (done?.kind === 'applied') {
        for (const { path: file, after } of done.change.edits) {
          if (after?.kind !== 'file') continue;
          const wasPrivate = before[file]?.startsWith('600 ') ?? false;
          if (wasPrivate && !/^[67]00 /.test(inventoryOf(dir)[file] ?? ''))
            wrong.push(`${what}: ${file} is open to others`);
        }
        await workspace.revert([done.change.id]);
      }
      outcomes[done?.kind ?? (refused ? 'refused' : 'nothing')] += 1;
      differs(`${what}, after it was reverted`, inventoryOf(dir));
      const apart = (all: Record<string, string>) =>
        Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('.git/')));
      differs(
        `${what}, in the next copy`,
        apart(inventoryOf((await workspace.updateCopy()).cwd)),
        apart(copied),
      );
    }
    expect(wrong).toEqual([]);
    expect(inProject('fsck', '--no-progress')).toBe('');
    expect(readFileSync(at(dir, 'src/cart.js'), 'utf8')).toBe(files['src/cart.js']);
    expect(outcomes.applied).toBeGreaterThan(15);
    expect(outcomes.refused).toBeGreaterThan(3);
    expect(outcomes.failed + outcomes.conflict).toBe(0);
    mkdirSync(at(dir, 'still-writable'));
  },
);

it('HN-1 names the files of the project that others changed while an agent worked', async () => {
  const { agent, dir, write, applied, workspace } = await agentWorkspace(files);
  const done = await applied((cwd) => writeInto(cwd, { 'src/fixed.js': 'fixed\n' }));
  if (done.kind !== 'applied') throw new Error(done.kind);
  const { cwd } = await workspace.updateCopy();
  writeInto(cwd, { 'src/cart.js': 'in the copy\n' });
  write({ 'src/total.js': 'by its absolute path\n', 'src/new.js': '', 'data/orders.db': 'ignored\n' });
  write({ 'package.json': files['package.json'] });
  rmSync(path.join(dir, '.env'));
  // What self-heal itself changes meanwhile does not count.
  await workspace.revert([done.change.id]);
  const { changedInProject } = await workspace.collectChanges('9');
  expect(changedInProject).toEqual(['.env', 'src/new.js', 'src/total.js']);
  expect((await agent(() => undefined)).changedInProject).toEqual([]);
});

it('HN-1 names a file that an agent writes into the project, even if self-heal wrote it before', async () => {
  const { dir, agent, applied } = await agentWorkspace({ 'total.js': 'broken\n' });
  const done = await applied((cwd) => writeFileSync(path.join(cwd, 'total.js'), 'tried\n'));
  if (done.kind !== 'applied') throw new Error(done.kind);
  const { changedInProject } = await agent(() => writeFileSync(path.join(dir, 'total.js'), 'outside\n'));
  expect(changedInProject).toEqual(['total.js']);
});
