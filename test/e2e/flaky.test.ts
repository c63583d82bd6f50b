import { describe, expect, it } from 'vitest';
import { isLong } from '../rig/long.js';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';

const head = `
  import { test, expect } from '@playwright/test';
  import { randomInt } from 'node:crypto';
  import { readFileSync } from 'node:fs';`;

// One test is red half of the time as long as the app says so, one after another that leaves a mark, one in another time zone.
const planted = {
  ...shopFiles,
  'odds.txt': '50',
  'tests/shop.spec.ts': `${head}
    test('races', () => {
      const saved = randomInt(100) < Number(readFileSync('odds.txt', 'utf8')) ? 'no' : 'yes';
      expect(saved).toBe('yes');
    });`,
  'tests/order.spec.ts': `${head}
    for (const n of [1, 2, 3]) test('works ' + n, () => {});
    test('leaves a mark', () => { Object.assign(globalThis, { mark: 1 }); });
    for (const n of [4, 5]) test('works ' + n, () => {});
    test('needs a clean slate', () => { expect(Reflect.get(globalThis, 'mark') ?? 0).toBe(0); });`,
  'tests/zone.spec.ts': `${head}
    test('says what day it is', () => {
      expect(new Date(2026, 0, 2, 12).toISOString().slice(0, 10)).toBe('2026-01-02');
    });`,
};

const settings = 'flaky: { runs: 60, time: 10m }\nverify: { regression: none }';

/** An agent that writes a file. */
const writes = (file: string, text: string) => `
  import { writeFileSync } from 'node:fs';
  writeFileSync(${JSON.stringify(file)}, ${JSON.stringify(text)});
  console.log('SELF-HEAL: ' + JSON.stringify({ status: 'fixed', summary: 'edited' }));`;

describe('self-heal flaky', () => {
  // The kinds are shown for every change on a simulated suite.
  it.runIf(isLong)(
    'FL-1 FL-2 finds each flake, its kind and what makes it red',
    { timeout: 600_000 },
    async () => {
      const project = await scratchProject({ ...planted, 'agents.yaml': `version: 1\n${settings}` });
      const { exitCode, report, stderr } = await project.selfHeal(['flaky', '--dry-run'], { TZ: 'UTC' });
      const found = new Map(report?.flakes?.map((one) => [one.test.titlePath.at(-1), one]));
      expect([...found].map(([title, { kind }]) => `${title}: ${kind}`).toSorted(), stderr).toEqual([
        'needs a clean slate: order',
        'races: random',
        'says what day it is: time',
      ]);
      expect(found.get('needs a clean slate')?.others.map(({ titlePath }) => titlePath.at(-1))).toEqual([
        'leaves a mark',
      ]);
      const race = found.get('races');
      expect(race?.red.red).toBeGreaterThan(0);
      expect(race?.red.red).toBeLessThan(race?.red.runs ?? 0);
      expect(race?.difference.join('\n')).toContain('tests/shop.spec.ts:7');
      expect(exitCode).toBe(0);
    },
  );

  it(
    'FL-3 FL-4 FL-6 keeps a fix that so many greens prove, and takes out one that is only better',
    { timeout: 600_000 },
    async () => {
      const project = await scratchProject({
        ...planted,
        'fixer.mjs': writes('odds.txt', '0'),
        'agents.yaml': agentsYaml(['node', 'fixer.mjs'], settings),
      });
      const { report, stderr } = await project.selfHeal(['flaky', 'shop.spec.ts']);
      expect(report?.causes, stderr).toMatchObject([{ category: 'flaky', verdict: 'healed' }]);
      const [flake] = report?.flakes ?? [];
      expect(flake?.green?.red).toBe(0);
      expect(flake?.green?.runs).toBeGreaterThan(2);
      expect(await project.read('odds.txt')).toBe('0');

      await project.write({ 'odds.txt': '50', 'fixer.mjs': writes('odds.txt', '45') });
      const again = await project.selfHeal(['flaky', 'shop.spec.ts']);
      expect(again.report?.tests, again.stderr).toMatchObject([{ verdict: 'flaky' }]);
      expect(await project.read('odds.txt')).toBe('50');

      const { stdout } = await project.selfHeal(['flaky', '--list', '--json']);
      expect(JSON.parse(stdout)).toMatchObject({
        flakes: [{ name: 'shop.spec.ts › races', kind: 'random' }],
      });
    },
  );

  it('FL-3 rejects a fix that sleeps', { timeout: 600_000 }, async () => {
    const spec = planted['tests/shop.spec.ts'].replace(
      '() => {',
      'async () => {\nawait new Promise((done) => setTimeout(done, 50));',
    );
    const project = await scratchProject({
      ...planted,
      'fixer.mjs': writes('tests/shop.spec.ts', spec),
      'agents.yaml': agentsYaml(['node', 'fixer.mjs'], settings),
    });
    const { report, stderr } = await project.selfHeal(['flaky', 'shop.spec.ts']);
    expect(report?.causes[0]?.attempts[0]?.end, stderr).toMatchObject({
      kind: 'rejected',
      violations: [{ rule: 'flake-hidden' }],
    });
    expect(report?.causes[0]?.verdict).toBe('rejected');
  });
});
