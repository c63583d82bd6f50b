import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { brokenBuildOf, isStillBroken } from '../../../src/playwright/broken-build.js';
import { aDiagnosed, anError, anEvidence } from '../../rig/builders.js';

const startedAt = 1_700_000_000_000;
const line = '[vite] (ssr) Error when evaluating SSR module /a.svelte: /shop/a.svelte:9:0 no such element';

/** A log of `[seconds after the start, text]`. */
function log(...lines: readonly (readonly [at: number, text: string])[]): string {
  return lines.map(([at, text]) => `${startedAt + at * 1000} ${text}\n`).join('');
}

function isBrokenAfter(seconds: number, text: string): boolean {
  return isStillBroken(text, line, { startedAt, now: startedAt + seconds * 1000 });
}

describe('a web server that a build error keeps from starting', () => {
  const said = [
    [1, 'ready in 553 ms'],
    [4, `5:06:11 PM ${line.replace('/shop', '/elsewhere/shop')}`],
    [4, '[500] GET /'],
    [13, '[500] GET /'],
  ] as const;

  it.each([
    ['has said nothing new for ten seconds', 14, log(...said), true],
    ['has had less than ten seconds to say something new', 13.9, log(...said), false],
    ['has said something new since', 20, log(...said, [15, 'page reload src/a.svelte']), false],
    ['has not said it yet', 100, log([1, 'ready in 553 ms']), false],
    ['took long to say it, and gets as long again', 59, log([30, line]), false],
    ['took long to say it, and had as long again', 60, log([30, line]), true],
  ])('CS-10 is still broken (or not) when it %s', (_, seconds, text, broken) => {
    expect(isBrokenAfter(seconds, text)).toBe(broken);
  });

  const timedOut = anError('Error: Timed out waiting 60000ms from config.webServer.');
  const failed = (error: typeof timedOut, serverOutput: string) => {
    const evidence = anEvidence({ errors: [error], serverOutput });
    const failure = { scope: 'suite', errors: [error], stderr: '' } as const;
    return brokenBuildOf(aDiagnosed({ failure, evidence, diagnosis: classify(evidence) }));
  };

  it('CS-10 is recognized by its output', () => {
    expect(failed(timedOut, `${line}\n  Plugin: svelte:compile`)).toEqual({ error: timedOut, line });
  });

  it.each([
    ['waits for something else', timedOut, 'Error: connect ECONNREFUSED 127.0.0.1:5432'],
    [
      'has ended',
      anError('Error: Process from config.webServer was not able to start. Exit code: 1'),
      `${line}\n  Plugin: a`,
    ],
  ])('CS-10 is not one that %s', (_, error, output) => {
    expect(failed(error, output)).toBeNull();
  });
});
