import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { copyShop, plant } from '../../fixtures/shop/plant.mjs';
import type { Report, ReportCause } from '../../src/run/report.js';
import { freePort } from './free-port.js';
import { userEnv } from './scratch-project.js';
import { tempDir } from './temp-dir.js';

const cli = path.resolve(import.meta.dirname, '../../bin/self-heal.js');

/** Plants faults in a copy of the example, and heals it with the example's scripted agent. */
export async function healShop(...faults: string[]) {
  const dir = path.join(tempDir('shop größe'), 'shop');
  await copyShop(dir);
  await plant(dir, faults);
  // One green run is enough here; the proof and the regression run have tests of their own.
  await appendFile(path.join(dir, 'agents.yaml'), 'verify: { repeat: 1, flips: 0, regression: none }\n');
  const env = { ...userEnv(), SHOP_PORT: String(await freePort()) };
  const options = { cwd: dir, env, extendEnv: false, reject: false, stdin: 'ignore' } as const;
  const { exitCode, stderr } = await execa(process.execPath, [cli, 'run'], options);
  const report = JSON.parse(
    await readFile(path.join(dir, '.self-heal/latest/report.json'), 'utf8'),
  ) as Report;
  return { dir, exitCode, stderr, report };
}

/** Returns the titles of the tests with this verdict. */
export const listTitles = (report: Report, verdict: string) =>
  report.tests
    .filter((test) => test.verdict === verdict)
    .map((test) => test.title.at(-1) ?? '')
    .toSorted();

/** Summarizes a cause: its class, its verdict, and each attempt's agent and judgement. */
export const summarizeCause = ({ category, verdict, attempts }: ReportCause) => [
  category,
  verdict,
  ...attempts.map((one) => `${one.agent ?? 'no agent'} ${one.end.kind}`),
];
