import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';

const program = path.resolve(import.meta.dirname, '../../bench/kills.mjs');

/** The moments differ each time; the output of a failure contains the seed. */
const KILLS = 50;

it.runIf(process.platform === 'linux')(
  `ME-8 HN-2 AG-10 ${KILLS} kills at random moments lose no attempt and count none twice`,
  async () => {
    const { stdout, stderr } = await execa(process.execPath, [program, String(KILLS)], { reject: false });
    const outcome = stdout.split('\n').at(-1) ?? '';
    expect(outcome, `${stdout}\n${stderr}`).toMatch(/^\{"seed"/);
    expect(JSON.parse(outcome), stdout).toMatchObject({ kills: KILLS, violations: 0 });
  },
);
