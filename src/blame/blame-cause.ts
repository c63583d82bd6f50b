import type { Blame } from '../core/blame.js';
import type { DiagnosedFailure } from '../core/cause.js';
import { hasFailed } from '../core/evidence.js';
import { groupedBy } from '../grouped-by.js';
import {
  akin,
  apart,
  blamedHunk,
  type Candidate,
  changedNames,
  changesName,
  mentionsName,
  namesIn,
} from './candidates.js';
import { type History, notWhole } from './history.js';
import { type Found, minimalSet } from './minimal-set.js';
import type { Trial } from './trials.js';

/** What to search, and how to run it. */
export interface BlameSearch {
  readonly lead: DiagnosedFailure;
  readonly base: History['base'];
  readonly isWhole: boolean;
  readonly candidates: readonly Candidate[];
  readonly trial: Trial;
  /** Stores the change that takes these candidates out, and returns its id; null if files changed meanwhile. */
  readonly keep: (out: readonly Candidate[]) => Promise<string | null>;
  readonly root: string;
  readonly cwd: string;
  readonly now: () => number;
}

/**
 * Finds the change that broke a test. The test is run in the current tree with only app changes taken out; if that does not turn it green,
 * changes to the tests are taken out too. Returns a text that says why if nothing was found.
 */
export async function blameCause(search: BlameSearch): Promise<Blame | string> {
  const { base, candidates, trial } = search;
  const startedAt = search.now();
  const found = await find(search);
  if (found === null) return whyNothing(search);
  const change = await search.keep(found.set);
  if (change === null) return 'files changed during the search';
  const { runs, unresolved, endedBy } = trial.said;
  return {
    base,
    hunks: found.set.map((one) => blamedHunk(one, search)),
    isMinimal: found.isMinimal,
    endedBy: found.isMinimal ? null : endedBy,
    outOf: candidates.length,
    runs,
    unresolved,
    durationMs: search.now() - startedAt,
    change,
  };
}

async function find({ lead, candidates, trial, cwd, root }: BlameSearch): Promise<Found<Candidate> | null> {
  const app = candidates.filter(({ inTests }) => !inTests);
  const said = namesSaid(lead);
  const names = changedNames(app.filter((one) => changesName(one, said)));
  const changing = app.filter((one) => changesName(one, names));
  const mentioning = app.filter((one) => changing.includes(one) || mentionsName(one, said));
  // Most often it is the line that the error came from, a change to a name in the failure together with related changes, or a line with such a
  // name. Trying these takes one run each instead of a search.
  const suspected = [
    app.filter((one) => isAt(lead, blamedHunk(one, { cwd, root }))),
    changing,
    ...(mentioning.length <= app.length / 4 && mentioning.length > changing.length ? [mentioning] : []),
  ];
  for (const suspects of suspected) {
    if (suspects.length === 0 || suspects.length === app.length) continue;
    const found = await smallest(suspects, trial);
    if (found) return found;
  }
  const found = app.length > 0 ? await smallest(app, trial) : null;
  return found ?? (app.length < candidates.length ? smallest(candidates, trial) : null);
}

/** Searches groups of related candidates first, then within the groups found. */
async function smallest(some: readonly Candidate[], { run }: Trial): Promise<Found<Candidate> | null> {
  const groups = await minimalSet(belonging(some), {
    test: (out) => run(out.flat()),
    apart: (group, next) => apart(group[0] as Candidate, next[0] as Candidate),
    akin: (group, other) => group.some((one) => other.some((another) => akin(one, another))),
  });
  const set = groups?.set.flat() ?? [];
  if (!groups?.isMinimal || set.length === groups.set.length) return groups && { ...groups, set };
  return minimalSet(set, { test: run, apart, akin });
}

/** Returns the names in the failure's errors, page exceptions and failed requests. */
function namesSaid({ evidence: { errors, console, network } }: DiagnosedFailure): ReadonlySet<string> {
  return namesIn([
    ...errors.flatMap(({ message, causes }) => [message, ...causes]),
    ...console.flatMap(({ type, text, stack }) => (type === 'pageerror' ? [text, stack ?? ''] : [])),
    ...network.filter(hasFailed).flatMap(({ url, responseBody }) => [url, responseBody ?? '']),
  ]);
}

/** Whether the failure's source position is in the hunk or next to it. */
function isAt({ diagnosis }: DiagnosedFailure, { file, line, now }: ReturnType<typeof blamedHunk>): boolean {
  const at = /^(?<file>.+?):(?<line>\d+)(?::\d+)?$/.exec(diagnosis.facts.source ?? '')?.groups;
  const named = Number(at?.['line']);
  return at?.['file'] === file && named >= line - 1 && named <= line + now.length;
}

function whyNothing({ trial, base, candidates, isWhole }: BlameSearch): string {
  const { endedBy, wasRed } = trial.said;
  const at = base.commit.slice(0, 7);
  if (endedBy === 'interrupt') return 'interrupted';
  if (endedBy !== null) return `no result within the limit (${endedBy})`;
  const hunks = candidates.length === 1 ? 'the 1 change' : `all ${candidates.length} changes`;
  if (!wasRed) return `its test does not run without ${hunks} since ${at}`;
  const red = `it also fails without ${hunks} since ${at}`;
  return isWhole ? `${red}: the cause is older, or not a file of the repository` : `${red}, and ${notWhole}`;
}

/** A name that more candidates change (such as `return`, or a word in a license) does not connect them. */
const MAX_SHARING = 5;

/**
 * Groups candidates of one commit that change the same rare name, such as a definition and its uses. A change is usually broken as a whole, so
 * taking out whole groups finds a fault of several hunks in as many runs as one of a single hunk. The groups are in the order
 * of their first candidates.
 */
export function belonging(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const groups = new Map(candidates.map((one) => [one, [one]]));
  for (const sharing of byRareName(candidates)) {
    const joined = [...new Set(sharing.flatMap((one) => groups.get(one) ?? []))];
    for (const one of joined) groups.set(one, joined);
  }
  return [...new Set(groups.values())];
}

function byRareName(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const changes = candidates.flatMap((one) => [...changedNames([one])].map((name) => ({ one, name })));
  return [...groupedBy(changes, ({ one, name }) => `${one.step} ${name}`).values()]
    .filter(({ length }) => length > 1 && length <= MAX_SHARING)
    .map((sharing) => sharing.map(({ one }) => one));
}
