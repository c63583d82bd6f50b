import { describe, expect, it } from 'vitest';
import { findFlakes } from '../../../../src/clients/flaky/find-flakes.js';
import { chance, type Reds, searchIn, simulatedSuite, sixtyTests } from '../../../rig/simulated-suite.js';

async function flakesIn(
  more: Readonly<Record<string, readonly string[]>>,
  reds: Reds,
  named: string | null = null,
  options: Parameters<typeof simulatedSuite>[2] = {},
) {
  const suite = simulatedSuite(sixtyTests(more), reds, options);
  const first = await suite.run({ ids: null, args: [], env: {}, trace: false });
  const selected =
    named === null
      ? first
      : { ...first, tests: first.tests.filter(({ test }) => test.titlePath[1] === named) };
  const messages: string[] = [];
  const search = await searchIn(suite, {
    first: selected,
    isNamed: named !== null,
    warn: (message) => messages.push(message),
  });
  const flakes = await findFlakes(search, async () => {});
  const unders = flakes.map(({ condition }) => condition);
  return { flakes: flakes.map(({ flake }) => flake), unders, said: messages, ran: suite.ran() };
}

describe('FL-2 the kind of a flake is shown by experiment', () => {
  it.each([0.1, 0.3, 0.5])(
    'FL-1 FL-2 random: a race at rate %d, which lies within its bounds',
    async (rate) => {
      let count = 0;
      for (let seed = 1; seed <= 20; seed += 1) {
        const random = chance(seed);
        const { flakes } = await flakesIn(
          { 'e.spec.ts': ['races'] },
          { races: () => random() < rate },
          'races',
        );
        const [flake] = flakes;
        expect(flake).toMatchObject({ kind: 'random', condition: 'alone' });
        const { red, runs } = flake?.red ?? { red: 0, runs: 1 };
        count += Number(Math.abs(red / runs - rate) < 3 * Math.sqrt((rate * (1 - rate)) / runs));
      }
      expect(count).toBeGreaterThanOrEqual(18);
    },
  );

  it.each([
    ['in its file', { 'e.spec.ts': ['leaves a mark', 'works', 'needs a clean slate'] }],
    ['in another file', { 'a.spec.ts': ['leaves a mark'], 'e.spec.ts': ['needs a clean slate'] }],
  ])('FL-2 order: names the polluter %s exactly', async (_, more) => {
    const reds: Reds = { 'needs a clean slate': ({ before }) => before.includes('leaves a mark') };
    const { flakes } = await flakesIn(more, reds, 'needs a clean slate');
    expect(flakes).toMatchObject([
      { kind: 'order', others: [{ titlePath: [expect.anything(), 'leaves a mark'] }] },
    ]);
    expect(flakes[0]?.alone.red).toBe(0);
  });

  it('FL-2 order: names two polluters that only work together', async () => {
    const more = { 'e.spec.ts': ['one', 'two', 'victim'] };
    const reds: Reds = { victim: ({ before }) => before.includes('one') && before.includes('two') };
    const { flakes } = await flakesIn(more, reds);
    expect(flakes[0]?.others.map(({ titlePath }) => titlePath[1])).toEqual(['one', 'two']);
  });

  it('FL-2 order: names the test that another test needs before it', async () => {
    const more = { 'e.spec.ts': ['logs in', 'works', 'needs a login'] };
    const reds: Reds = { 'needs a login': ({ before }) => !before.includes('logs in') };
    const { flakes } = await flakesIn(more, reds, 'needs a login');
    expect(flakes).toMatchObject([{ kind: 'order', others: [{ titlePath: ['e.spec.ts', 'logs in'] }] }]);
  });

  it('FL-2 data: names each of two tests that share data for the other', async () => {
    const random = chance(7);
    const more = { 'a.spec.ts': ['one'], 'b.spec.ts': ['two'] };
    const reds: Reds = {
      one: ({ beside }) => beside.includes('two') && random() < 0.6,
      two: ({ beside }) => beside.includes('one') && random() < 0.6,
    };
    const { flakes } = await flakesIn(more, reds);
    expect(
      flakes.map(({ kind, others, test }) => [kind, test.titlePath[1], others[0]?.titlePath[1]]),
    ).toEqual([
      ['data', 'one', 'two'],
      ['data', 'two', 'one'],
    ]);
  });

  it('FL-2 load: red beside any other tests, but only with four workers', async () => {
    const reds: Reds = { 'needs a slot': ({ slot }) => slot === 3 };
    const { flakes } = await flakesIn({ 'd.spec.ts': ['needs a slot'] }, reds, null, { jitter: chance(3) });
    expect(flakes).toMatchObject([
      { kind: 'load', condition: expect.stringContaining('4 workers'), others: [] },
    ]);
  });

  it('FL-2 time: red in another time zone, although green in this one', async () => {
    const reds: Reds = { 'says what day it is': ({ env }) => env['TZ'] === 'Pacific/Pago_Pago' };
    const { flakes } = await flakesIn({ 'd.spec.ts': ['says what day it is'] }, reds);
    expect(flakes).toMatchObject([{ kind: 'time', condition: 'with TZ=Pacific/Pago_Pago' }]);
  });

  it('FL-4 a flake that no experiment reproduces has no condition for proving a fix', async () => {
    let runs = 0;
    const { flakes, unders } = await flakesIn(
      { 'd.spec.ts': ['was red'] },
      { 'was red': () => (runs += 1) === 1 },
    );
    expect(flakes).toMatchObject([{ kind: 'random', condition: 'in the whole suite' }]);
    expect(unders).toEqual([null]);
  });

  it('FL-2 a test that is always red counts as broken, and one that is always green as no flake', async () => {
    const broken = await flakesIn({ 'd.spec.ts': ['breaks'] }, { breaks: () => true });
    expect(broken.flakes).toEqual([]);
    expect(broken.said).toEqual([expect.stringContaining('broken, not flaky')]);
    expect((await flakesIn({}, {})).flakes).toEqual([]);
  });
});
