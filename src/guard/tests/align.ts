import { identity, isAsStrong, weaknesses } from './strength.js';
import type { Step } from './step.js';

/** A step of the old test and the one that took its place, or null where none did. */
export interface LostStep {
  readonly before: Step;
  readonly after: Step | null;
}

/** Two tests laid beside each other. */
export interface Alignment {
  /** Old steps that no new one is as strong as, in order. */
  readonly lost: readonly LostStep[];
  /** Old steps with the new ones that hold them. */
  readonly kept: readonly (readonly [before: Step, after: Step])[];
  /** New steps that take no old one's place. */
  readonly added: readonly Step[];
}

/** The most pairs of steps that are compared with each other in one stretch without a common step. */
const MAX_PAIRS = 40_000;

/** Lays the steps of a test before and after beside each other, in their order, as many kept as can be. */
export function alignSteps(before: readonly Step[], after: readonly Step[]): Alignment {
  let start = 0;
  while (isKept(before[start], after[start])) start += 1;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    isKept(before.at(-1 - end), after.at(-1 - end))
  )
    end += 1;
  const head = before.slice(0, start).map((old, index) => [old, after[index]] as const);
  const tail = before
    .slice(before.length - end)
    .map((old, index) => [old, after[after.length - end + index]] as const);
  const rest = alignRest(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return { ...rest, kept: [...pairs(head), ...rest.kept, ...pairs(tail)] };
}

function pairs(all: readonly (readonly [Step, Step | undefined])[]): (readonly [Step, Step])[] {
  return all.flatMap(([old, now]) => (now ? [[old, now] as const] : []));
}

function isKept(old: Step | undefined, now: Step | undefined): boolean {
  return old !== undefined && now !== undefined && isAsStrong(old, now);
}

interface Placed {
  readonly step: Step;
  /** How many steps before it are kept. */
  readonly gap: number;
}

function alignRest(before: readonly Step[], after: readonly Step[]): Alignment {
  const same = before.length * after.length > MAX_PAIRS ? anchors(before, after) : longest(before, after);
  const kept = same
    .map(([i, j]) => [before[i], after[j]] as const)
    .flatMap(([a, b]) => (a && b ? [[a, b] as const] : []));
  const [olds, news] = [new Set(same.map(([i]) => i)), new Set(same.map(([, j]) => j))];
  const free = placed(after, news);
  const lost = placed(before, olds).map(({ step, gap }) => ({
    before: step,
    after: takePlace(step, gap, free),
  }));
  return { kept, lost, added: free.map((one) => one.step) };
}

function placed(steps: readonly Step[], taken: ReadonlySet<number>): Placed[] {
  let gap = 0;
  return steps.flatMap((step, index) => {
    if (!taken.has(index)) return [{ step, gap }];
    gap += 1;
    return [];
  });
}

type Pair = readonly [before: number, after: number];

/** For long tests: each old step is held by the next new one that is the same, else by the next in its place. */
function anchors(before: readonly Step[], after: readonly Step[]): Pair[] {
  const places = new Map<string, number[]>();
  after.forEach((step, index) => {
    const known = places.get(identity(step));
    if (known) known.push(index);
    else places.set(identity(step), [index]);
  });
  const found: Pair[] = [];
  let next = 0;
  before.forEach((step, index) => {
    const place = places.get(identity(step))?.find((one) => one >= next && one < next + 200);
    const at = place ?? (isKept(step, after[next]) ? next : undefined);
    if (at === undefined) return;
    found.push([index, at]);
    next = at + 1;
  });
  return found;
}

/** The longest common run of steps, as pairs of their places. */
function longest(before: readonly Step[], after: readonly Step[]): Pair[] {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const holds = new Uint8Array(before.length * after.length);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const both = isKept(before[i], after[j]);
      holds[i * after.length + j] = both ? 1 : 0;
      lengths[i * width + j] = Math.max(both ? at(i + 1, j + 1) + 1 : 0, at(i + 1, j), at(i, j + 1));
    }
  }
  const found: Pair[] = [];
  for (let [i, j] = [0, 0]; i < before.length && j < after.length;) {
    if (holds[i * after.length + j] === 1 && at(i, j) === at(i + 1, j + 1) + 1) found.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return found;
}

/** The new step in the same gap that is most like a lost one: it says what was done to it. */
function takePlace(old: Step, gap: number, free: Placed[]): Step | null {
  const near = free.filter(
    (one) => one.gap === gap && (one.step.kind === 'assertion') === (old.kind === 'assertion'),
  );
  const ranked = near.slice(0, 50).map((one) => [weaknesses(old, one.step).length, one] as const);
  const [best] = ranked.sort(([a], [b]) => a - b);
  if (!best) return null;
  free.splice(free.indexOf(best[1]), 1);
  return best[1].step;
}
