import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { belonging, blameCause } from '../../../src/blame/blame-cause.js';
import type { Candidate } from '../../../src/blame/candidates.js';
import { aDiagnosed, anEvidence } from '../../rig/builders.js';

/** How many runs one search may take: two more than by default, since a fault may lie at many boundaries. */
const limit = 14;

/** What one candidate changes. */
interface Change {
  readonly old: string;
  readonly now: string;
}

/** 200 hunks, each changing a name of its own, spread over some commits; those at `places` are the fault, all in one commit. */
function history(
  places: readonly number[],
  { fault, commits }: { fault: readonly Change[]; commits: number },
) {
  const each = Math.ceil(200 / commits);
  const commitOf = (at: number) => commits - Math.floor(at / each);
  return Array.from({ length: 200 }, (_, at): Candidate => {
    const { old, now } = fault[places.indexOf(at)] ?? { old: `return old${at};`, now: `return new${at};` };
    const path = `src/f${Math.floor(at / 4)}.ts`;
    const [oldStart, newStart] = [(at % 4) * 20 + 1, (at % 4) * 20 + 1];
    const hunk = {
      file: path,
      line: newStart,
      oldStart,
      newStart,
      old: [old],
      now: [now],
      whole: false,
      commit: null,
    };
    const file = { path, before: '', after: '', hunks: [] };
    return { hunk, file, step: commitOf(at), commit: null, inTests: false };
  });
}

/** Searches with a test that is green once the whole fault is reverted; returns the answer and the places found. */
async function search(candidates: readonly Candidate[], places: readonly number[], message: string) {
  const said = { runs: 0, unresolved: 0, wasRed: false, endedBy: null };
  const known = new Map<string, 'green' | 'red'>();
  const at = (one: Candidate) => candidates.indexOf(one);
  const run = async (out: readonly Candidate[]) => {
    const key = out
      .map(at)
      .toSorted((a, b) => a - b)
      .join();
    const before = known.get(key);
    if (before) return before;
    if (said.runs >= limit) return null;
    said.runs += 1;
    const outcome = places.every((place) => out.some((one) => at(one) === place)) ? 'green' : 'red';
    known.set(key, outcome);
    return outcome;
  };
  const error = { message, stack: null, snippet: null, location: null, causes: [] };
  let kept: readonly Candidate[] = [];
  const answer = await blameCause({
    lead: aDiagnosed({ evidence: anEvidence({ errors: [error] }) }),
    base: { commit: 'a'.repeat(40), from: 'head' },
    isWhole: true,
    candidates,
    trial: { run, said },
    keep: async (out) => {
      kept = out;
      return '900000001';
    },
    root: '/project',
    cwd: '/project',
    now: () => 0,
  });
  return { answer, places: kept.map(at).toSorted((a, b) => a - b) };
}

/** Two places within the same one of `commits` commits. */
const twoPlaces = (commits: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: commits - 1 }), fc.uniqueArray(fc.nat(), { minLength: 2, maxLength: 2 }))
    .map(([commit, within]) => {
      const each = Math.ceil(200 / commits);
      const last = Math.min(each, 200 - commit * each);
      return [...new Set(within.map((one) => commit * each + (one % Math.max(1, last))))].toSorted(
        (a, b) => a - b,
      );
    })
    .filter((places) => places.length === 2 && places.every((one) => one < 200));

describe('the change to blame', () => {
  it('BL-2 two hunks of one commit that change the same name are found among 200 within 14 runs', async () => {
    const fault = [
      { old: 'id: string;', now: 'id: string; delivery: Delivery;' },
      { old: 'order.id', now: 'order.delivery.id' },
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(1, 4, 20).chain((commits) => fc.tuple(fc.constant(commits), twoPlaces(commits))),
        async ([commits, places]) => {
          const candidates = history(places, { fault, commits });
          const found = await search(candidates, places, 'element(s) not found');
          expect(found.places).toEqual(places);
          expect(found.answer).toMatchObject({ isMinimal: true, endedBy: null });
        },
      ),
    );
  });

  it('BL-2 two hunks that share only a name from the failure are found among 200 within 14 runs', async () => {
    const fault = [
      { old: 'return { number: 1 };', now: 'return { orderNumber: 1, number };' },
      { old: "h('order-number', order.number)", now: "h('order-number', (order as { number: string }).ref)" },
    ];
    await fc.assert(
      fc.asyncProperty(twoPlaces(1), async (places) => {
        const candidates = history(places, { fault, commits: 1 });
        const found = await search(candidates, places, "getByTestId('order-number') is not 1");
        expect(found.places).toEqual(places);
        expect(found.answer).toMatchObject({ isMinimal: true });
      }),
    );
  });

  it('BL-2 hunks of a commit that change the same name belong together, unless many hunks change it', () => {
    const fault = Array.from({ length: 20 }, () => ({ old: 'one', now: 'another' }));
    const candidates = history(
      fault.map((_, at) => at + 70),
      { fault, commits: 1 },
    );
    expect(belonging(candidates)).toHaveLength(200);
    const [few] = belonging(history([3, 9], { fault: fault.slice(0, 2), commits: 1 })).filter(
      ({ length }) => length > 1,
    );
    expect(few?.map(({ hunk }) => hunk.file)).toEqual(['src/f0.ts', 'src/f2.ts']);
  });
});
