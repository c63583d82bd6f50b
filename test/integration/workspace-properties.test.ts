import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openWorkspace } from '../../src/workspace/workspace.js';
import { tempDir } from '../rig/temp-dir.js';

const names = ['a.txt', 'src/b.ts', 'src/größe c.ts', 'bin/run.sh', 'img/d.bin', '.env'];
const edit = fc.record({
  name: fc.constantFrom(...names),
  what: fc.oneof(
    fc.record({ kind: fc.constant('write' as const), bytes: fc.uint8Array({ maxLength: 40 }) }),
    fc.record({ kind: fc.constant('crlf' as const), bytes: fc.constant(Buffer.from('one\r\ntwo\r\n')) }),
    fc.record({ kind: fc.constant('delete' as const) }),
    fc.record({ kind: fc.constant('executable' as const) }),
    fc.record({ kind: fc.constant('link' as const) }),
  ),
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function apply(dir: string, { name, what }: Edit): void {
  const file = path.join(dir, name);
  mkdirSync(path.dirname(file), { recursive: true });
  if (what.kind === 'executable') {
    if (existsSync(file) && !lstatSync(file).isSymbolicLink()) chmodSync(file, 0o755);
    return;
  }
  rmSync(file, { force: true });
  if (what.kind === 'link') symlinkSync('a.txt', file);
  else if (what.kind !== 'delete') writeFileSync(file, what.bytes);
}

/** Every file below a folder with its mode and bytes, links as links. */
function stateOf(dir: string): Record<string, string> {
  const all = readdirSync(dir, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    all.flatMap((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const name = path.relative(dir, file);
      if (entry.isDirectory() || /^\.(?:git|self-heal)(?:\/|$)/.test(name)) return [];
      if (entry.isSymbolicLink()) return [[name, `link ${readlinkSync(file)}`]];
      const executable = (lstatSync(file).mode & 0o100) !== 0;
      return [[name, `${executable ? 'x' : '-'} ${readFileSync(file).toString('hex')}`]];
    }),
  );
}

/** The user's own git, byte for byte. */
function gitState(dir: string): Record<string, string> {
  const git = path.join(dir, '.git');
  const files = readdirSync(git, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(git, file), readFileSync(file).toString('hex')];
    }),
  );
}

it.runIf(process.platform !== 'win32')(
  'HN-1 HN-2 whatever an agent does is taken back, what the user did meanwhile stays, and the user’s git is untouched',
  async () => {
    const edits = fc.array(edit, { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(edits, edits, edits, async (before, agent, user) => {
        const dir = tempDir('tree größe');
        execFileSync('git', ['init', '-q'], { cwd: dir });
        writeFileSync(path.join(dir, '.gitignore'), '.env\n');
        for (const one of before) apply(dir, one);
        const workspace = await openWorkspace(dir);
        if (!workspace) throw new Error('There is no git program.');
        const gitBefore = gitState(dir);
        const stateBefore = stateOf(dir);
        const checkpoint = await workspace.checkpoint();
        for (const one of agent) apply(dir, one);
        const stateAfter = stateOf(dir);
        const after = await workspace.checkpoint();
        for (const one of user) apply(dir, one);
        const stateNow = stateOf(dir);
        await workspace.takeBack(checkpoint, after);
        const touchedByUser = (name: string) => stateNow[name] !== stateAfter[name];
        const all = new Set([...Object.keys(stateBefore), ...Object.keys(stateNow)]);
        const expected = [...all].flatMap((name) => {
          const state = touchedByUser(name) ? stateNow[name] : stateBefore[name];
          return state === undefined ? [] : [[name, state] as const];
        });
        expect(stateOf(dir)).toEqual(Object.fromEntries(expected));
        expect(gitState(dir)).toEqual(gitBefore);
      }),
      { numRuns: 25 },
    );
  },
  120_000,
);
