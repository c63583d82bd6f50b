import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { dropAllUnmasked, maskSuiteFolder, rawTraceOf } from '../../../src/run/mask-suite-folder.js';
import { tempDir } from '../../rig/temp-dir.js';

const redactor = {
  masksIn: (text: string) =>
    [...text.matchAll(/hidden/g)].map(({ index }) => ({
      start: index,
      end: index + 'hidden'.length,
      shown: '[masked: word]',
    })),
};

async function aSuite(): Promise<{ runDir: string; suite: string }> {
  const runDir = tempDir();
  const suite = path.join(runDir, 'suites', '1');
  await mkdir(path.join(suite, 'scripts'), { recursive: true });
  await mkdir(path.join(suite, 'output', 'a-hidden-title'), { recursive: true });
  for (const name of ['server.log', 'playwright.log', 'problems.log', 'report.ndjson', 'scripts/1.txt']) {
    await writeFile(path.join(suite, name), `${'1 plain line\n'.repeat(50_000)}2 hidden\n`);
  }
  return { runDir, suite };
}

describe('masking a suite run', () => {
  it('EV-9 masks its logs in place and leaves what the diagnosis needs', async () => {
    const { suite } = await aSuite();
    await maskSuiteFolder(suite, { isRed: true, redactor });
    expect(readdirSync(suite).sort()).toEqual([
      'output',
      'playwright.log',
      'problems.log',
      'scripts',
      'server.log',
    ]);
    const log = readFileSync(path.join(suite, 'server.log'), 'utf8');
    expect(log).toBe(`${'1 plain line\n'.repeat(50_000)}2 [masked: word]\n`);
  });

  it('EV-9 deletes a log that cannot be masked', async () => {
    const { suite } = await aSuite();
    const broken = {
      masksIn: () => {
        throw new Error('the detector broke');
      },
    };
    await maskSuiteFolder(suite, { isRed: true, redactor: broken });
    expect(readdirSync(suite).filter((name) => name.includes('.log'))).toEqual([]);
  });

  it('EV-9 leaves only masked logs at the end of a run', async () => {
    const { runDir, suite } = await aSuite();
    await maskSuiteFolder(suite, { isRed: true, redactor });
    const trace = rawTraceOf(runDir, 1);
    await mkdir(path.dirname(trace), { recursive: true });
    await writeFile(trace, 'a hidden zip');
    await dropAllUnmasked(runDir);
    expect(readdirSync(suite).sort()).toEqual(['playwright.log', 'problems.log', 'server.log']);
    expect(existsSync(trace)).toBe(false);
  });

  it('EV-9 leaves nothing of a suite run that was cut off before its logs were masked', async () => {
    const { runDir } = await aSuite();
    await dropAllUnmasked(runDir);
    expect(readdirSync(path.join(runDir, 'suites'))).toEqual([]);
  });
});
