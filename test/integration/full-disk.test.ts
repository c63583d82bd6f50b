import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { compiledSrc } from '../rig/compiled-src.js';
import { canMount, withMounts } from '../rig/small-disk.js';
import { tempDir } from '../rig/temp-dir.js';

/** Applies and reverts a change on a disk with different amounts of free space; prints how each ended and what it left. */
const program = `
  import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
  import path from 'node:path';
  const [src, disk] = process.argv.slice(2);
  const { openWorkspace } = await import(src + '/workspace/workspace.js');
  const { contentsOf } = await import(src + '/workspace/change.js');
  const { recoverKilledRuns } = await import(src + '/run/recover.js');
  const large = (letter) => letter.repeat(100_000) + '\\n';
  const old = { 'a.js': large('a'), 'b.js': large('b') };
  const fixed = { 'a.js': large('A'), 'b.js': large('B'), 'new.js': large('NN') };
  const state = (project) => JSON.stringify(Object.fromEntries(
    readdirSync(project).filter((name) => name.endsWith('.js')).sort().map((name) => [name, readFileSync(path.join(project, name), 'utf8')])));
  const named = (text) => text === JSON.stringify(old) ? 'before' : text === JSON.stringify(fixed) ? 'after' : 'neither';
  // Less than that, and the contents cannot be kept; more, and all of it can be written.
  for (const roomKb of [0, 300, ...Array.from({ length: 14 }, (_, n) => 590 + 18 * n), 1200]) {
    const project = path.join(disk, 'p' + roomKb);
    const runDir = path.join(project, '.self-heal', 'runs', 'run');
    mkdirSync(runDir, { recursive: true });
    for (const [name, text] of Object.entries(old)) writeFileSync(path.join(project, name), text);
    const workspace = await openWorkspace({ project, runId: 'run', runDir, contents: contentsOf(runDir), warn: () => {}, onCopy: async () => {} });
    const { cwd } = await workspace.ready();
    for (const [name, text] of Object.entries(fixed)) writeFileSync(path.join(cwd, name), text);
    const filler = path.join(disk, 'filler');
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - roomKb * 1024)));
    let came = 'threw';
    try {
      const { change, refused } = await workspace.collect('1');
      came = change ? (await workspace.apply(change)).kind : 'refused: ' + refused;
    } catch (error) { came = error.code ?? String(error); }
    const left = named(state(project));
    rmSync(filler);
    const recovered = await recoverKilledRuns(project);
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

it.runIf(canMount)(
  'HN-1 HN-2 if the disk is full at any write of a change, the project has all of it or nothing, at the latest after the next command',
  async () => {
    const place = tempDir('full disk');
    writeFileSync(path.join(place, 'program.mjs'), program);
    const script =
      'mkdir disk && mount -t tmpfs -o size=3m tmpfs disk && "$NODE" program.mjs "$SRC" "$PWD/disk"';
    const src = pathToFileURL(compiledSrc()).href;
    const env = { PATH: process.env['PATH'] ?? '', HOME: place, NODE: process.execPath, SRC: src };
    const { stdout, stderr } = await withMounts(script, place, env);
    const outcomes = stdout.split('\n').map((line) => JSON.parse(line) as Outcome);
    expect(outcomes, stderr).toHaveLength(17);
    const came = new Set(outcomes.map((one) => one.came));
    expect(outcomes.at(0)?.came).not.toBe('applied');
    expect(outcomes.at(-1)).toMatchObject({ came: 'applied', left: 'after' });
    expect(came.size, stdout).toBeGreaterThan(2);
    for (const one of outcomes) {
      // Nothing decided to keep the change, so the next command reverts it.
      expect(one, stdout).toMatchObject({ recovered: true, end: 'before' });
      if (one.came === 'failed') expect(one.left, stdout).toBe('before');
    }
  },
);
