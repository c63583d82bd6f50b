import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { compiledSrc } from '../rig/compiled-src.js';
import { canMount, withMounts } from '../rig/small-disk.js';
import { tempDir } from '../rig/temp-dir.js';

/** Applies a change on a disk with different amounts of free space, fills the disk, and reverts it; prints how each ended and what it left. */
const program = `
  import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, statfsSync, writeFileSync } from 'node:fs';
  import path from 'node:path';
  const [src, disk] = process.argv.slice(2);
  const { openWorkspace } = await import(src + '/workspace/workspace.js');
  const { openContentStore } = await import(src + '/workspace/change.js');
  const { recoverKilledRuns } = await import(src + '/run/recover.js');
  const large = (letter) => letter.repeat(100_000) + '\\n';
  const old = { 'a.js': large('a'), 'b.js': large('b') };
  const fixed = { 'a.js': large('A'), 'b.js': large('B'), 'new.js': 'new' };
  const state = (project) => JSON.stringify(Object.fromEntries(
    readdirSync(project).filter((name) => name.endsWith('.js')).sort().map((name) => [name, readFileSync(path.join(project, name), 'utf8')])));
  const named = (text) => text === JSON.stringify(old) ? 'before' : text === JSON.stringify(fixed) ? 'after' : 'neither';
  // Less than that, and the contents cannot be kept; more, and all of it can be written.
  const amounts = [0, 300, ...Array.from({ length: 18 }, (_, n) => 490 + 40 * n), 1600];
  for (const roomKb of process.argv[4] === 'all' ? amounts.slice(-1) : amounts) {
    const project = path.join(disk, 'p' + roomKb);
    const runDir = path.join(project, '.self-heal', 'runs', 'run');
    mkdirSync(runDir, { recursive: true });
    for (const [name, text] of Object.entries(old)) writeFileSync(path.join(project, name), text);
    const workspace = await openWorkspace({ project, runId: 'run', runDir, contents: openContentStore(runDir), warn: () => {}, onCopy: async () => {} });
    const { cwd } = await workspace.updateCopy();
    for (const [name, text] of Object.entries(fixed)) writeFileSync(path.join(cwd, name), text);
    const filler = path.join(disk, 'filler');
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - roomKb * 1024)));
    let came = 'threw';
    try {
      const { change, refused } = await workspace.collectChanges('1');
      came = change ? (await workspace.apply(change)).kind : 'refused: ' + refused;
    } catch (error) { came = error.code ?? String(error); }
    const left = named(state(project));
    const { bavail: more } = statfsSync(disk);
    appendFileSync(filler, Buffer.alloc(more * bsize));
    const takeTheRoom = process.argv[4] === 'all';
    if (takeTheRoom) {
      const reserved = path.join(project, '.self-heal', 'reserved');
      const { size } = statSync(reserved);
      rmSync(reserved);
      appendFileSync(filler, Buffer.alloc(size));
    }
    const recovered = await recoverKilledRuns(project);
    rmSync(filler);
    await workspace.close();
    console.log(JSON.stringify({ roomKb, came, left, recovered: recovered.ok || recovered.error.message, end: named(state(project)) }));
    rmSync(project, { recursive: true });
  }`;

interface Outcome {
  came: string;
  left: string;
  recovered: boolean | string;
  end: string;
}

async function outcomesOf(take: 'all' | 'free') {
  const place = tempDir('full disk');
  writeFileSync(path.join(place, 'program.mjs'), program);
  const script = `mkdir disk && mount -t tmpfs -o size=4m tmpfs disk && "$NODE" program.mjs "$SRC" "$PWD/disk" ${take}`;
  const src = pathToFileURL(compiledSrc()).href;
  const env = { PATH: process.env['PATH'] ?? '', HOME: place, NODE: process.execPath, SRC: src };
  const { stdout, stderr } = await withMounts(script, place, env);
  return { stdout, stderr, outcomes: stdout.split('\n').map((line) => JSON.parse(line) as Outcome) };
}

it.runIf(canMount)(
  'HN-1 HN-2 a disk that is full at any write of a change leaves all of it or nothing',
  async () => {
    const { outcomes, stdout, stderr } = await outcomesOf('free');
    expect(outcomes, stderr).toHaveLength(21);
    const came = new Set(outcomes.map((one) => one.came));
    expect(outcomes.at(0)?.came).not.toBe('applied');
    expect(outcomes.at(-1)).toMatchObject({ came: 'applied', left: 'after' });
    expect(came.size, stdout).toBeGreaterThan(2);
    for (const one of outcomes) {
      // Nothing decided to keep the change.
      expect(one, stdout).toMatchObject({ recovered: true, end: 'before' });
      if (one.came === 'failed') expect(one.left, stdout).toBe('before');
    }
  },
);

it.runIf(canMount)(
  'HN-1 HN-2 if there is no room left to revert a change, the files that still hold it are named',
  async () => {
    const { outcomes, stdout, stderr } = await outcomesOf('all');
    expect(outcomes, stdout + stderr).toMatchObject([{ came: 'applied' }]);
    expect(outcomes[0]?.recovered).toContain('a.js, b.js');
    expect(outcomes[0]?.recovered).not.toContain('new.js');
  },
);
