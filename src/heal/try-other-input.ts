import path from 'node:path';
import { readFileSync } from 'node:fs';
import { canBeReverted } from '../core/blame.js';
import type { Note, Violation } from '../core/guard-findings.js';
import { headlineOf } from '../core/headline.js';
import { isGreen, type Observation } from '../core/judge.js';
import { exchangeInputs, type OtherInput } from '../guard/other-input.js';
import { violationOf } from '../guard/rules.js';
import { type Contents, contentsOf, readChange } from '../workspace/change.js';
import { type FileEdit, type FileState, isSame, stateOf } from '../workspace/file-state.js';
import type { Refuted } from './apply-proof.js';
import { changesOf, heldAttempt, type Progress, type ProofTest, revealing } from './progress.js';
import type { Cause } from '../core/cause.js';
import { retest } from './retest.js';

/** A cause whose fix is in the app and whose tests type something. */
interface Typing {
  readonly cause: Cause;
  /** A file of its fix. */
  readonly edited: string;
  readonly input: OtherInput;
  /** The changes that are its fix, with those that led to it. */
  readonly changes: readonly string[];
  readonly tests: readonly ProofTest[];
}

/** What another input showed of a fix: why it is rejected, or else what a reviewer should know. */
export interface InputVerdict {
  readonly causeId: string;
  readonly rejected: Extract<Refuted, { kind: 'rejected' }> | null;
  readonly notes: readonly Note[];
}

/** Returns the causes whose fixes have to be run with another input. */
export function typingIn(progress: Progress, tests: readonly ProofTest[]): Typing[] {
  return [...progress.causes.values()].flatMap((cause) => {
    const fix = heldAttempt(progress, cause);
    if (fix?.end.kind !== 'green') return [];
    const chain = [...revealing(progress, cause), cause];
    const found = chain.flatMap(({ id }) => progress.tried.get(id)?.otherInput ?? []);
    const own = tests.filter(({ causeId, isFlipped, failure }) => {
      return causeId === cause.id && isFlipped && failure.failure.scope === 'test';
    });
    if (found.length === 0 || own.length === 0) return [];
    const input: OtherInput = {
      inputs: [...new Set(found.flatMap(({ inputs }) => inputs))],
      named: found.find(({ named }) => named !== null)?.named ?? null,
      files: [...new Set(found.flatMap(({ files }) => files))],
    };
    const changes = chain.flatMap((one) => changesOf(progress, one));
    return [{ cause, edited: fix.files[0]?.path ?? '', input, changes, tests: own }];
  });
}

/**
 * Runs the tests of all these causes once with another input than they type: a metamorphic check (HN-3). What is red is run once more, and
 * then without its fix and without the change that broke it: if the tests are green there with the other input, too, it is the fix that does not
 * answer it; if they are not, the app needs the input that they type. If it is not known what broke them, only a fix that names the input is rejected.
 */
export async function tryOtherInput(
  { session }: Progress,
  typing: readonly Typing[],
): Promise<readonly InputVerdict[]> {
  const { signal } = session;
  const tried = await runAltered(session, typing, new Map());
  const notTried = typing.filter(({ tests }) => tests.some((one) => endOf(tried, one) === 'unknown'));
  const once = typing.filter(({ tests }) => tests.some((one) => endOf(tried, one) === 'red'));
  const again = once.length > 0 && !signal.aborted ? await runAltered(session, once, new Map()) : new Map();
  const red = once.filter(({ tests }) => tests.some((one) => endOf(again, one) === 'red'));
  const { goals, covered } = await withoutFixAndBlame(session, red);
  const control =
    covered.length > 0 && !signal.aborted ? await runAltered(session, covered, goals) : new Map();
  if (signal.aborted) return [];
  return [
    ...notTried.map((one) => noted(one, 'no other input could be tried')),
    ...red
      .filter((one) => !notTried.includes(one))
      .map((one) => {
        const ends = new Set(one.tests.map((test) => endOf(control, test)));
        const isNeeded = ends.has('red');
        if (!isNeeded && (ends.has('green') || one.input.named !== null)) return rejected(one);
        const failure = one.tests.flatMap((test) => again.get(test)?.failure ?? [])[0];
        const shown = failure ? `, with ${headlineOf(failure)}` : '';
        return noted(
          one,
          isNeeded
            ? 'with another input they are red, as they are without the change that broke them'
            : `with another input they are red${shown}, and no run could show whether the app needs this one`,
        );
      }),
  ];
}

type Seen = ReadonlyMap<ProofTest, Observation>;

function endOf(seen: Seen, test: ProofTest): 'green' | 'red' | 'unknown' {
  const now = seen.get(test);
  if (!now) return 'unknown';
  if (isGreen(now)) return 'green';
  return now.ended === 'failed' ? 'red' : 'unknown';
}

/** Returns what is wrong with a fix that is red with another input; `edited` is a file of it. */
export function hardCoded({ named, inputs }: OtherInput, edited: string): Violation {
  return violationOf('input-hard-coded', {
    file: named?.file ?? edited,
    line: named?.line ?? null,
    detail: `the test is red with an input other than ${inputs.map(quoted).join(', ')}`,
  });
}

/** Says what the tests type, and whether the fix names it. */
export function typedText({ named, inputs }: OtherInput): string {
  if (named) return `the fix names ${quoted(named.input)}, which the tests type`;
  return inputs.length > 0 ? `the tests type ${inputs.map(quoted).join(', ')}` : 'the tests type a text';
}

function rejected({ cause, edited, input }: Typing): InputVerdict {
  const violation = hardCoded(input, edited);
  return {
    causeId: cause.id,
    rejected: { kind: 'rejected', because: violation.says, violations: [violation] },
    notes: [],
  };
}

function noted({ cause, edited, input }: Typing, says: string): InputVerdict {
  const { file = edited, line = null } = input.named ?? {};
  const note = { file, line, says: `${typedText(input)}: ${says}` };
  return { causeId: cause.id, rejected: null, notes: [note] };
}

const quoted = (text: string) => JSON.stringify(text);

type Goals = ReadonlyMap<string, FileState | null>;

/**
 * Runs the tests with another input, and with files in other states. All of it is in the project for this run alone, under the journal like any
 * change (HN-2). Returns what it showed of each test; nothing if it could not be run.
 */
async function runAltered(
  session: Progress['session'],
  typing: readonly Typing[],
  goals: Goals,
): Promise<Seen> {
  const { workspace, folder } = session;
  const input = {
    inputs: typing.flatMap(({ input: { inputs } }) => inputs),
    files: typing.flatMap(({ input: { files } }) => files),
  };
  const place = { root: workspace.root, contents: contentsOf(folder.dir) };
  const edits = await otherInputEdits(input, place, goals);
  // No agent's change has an id like this.
  const id = `${typing[0]?.changes.at(-1) ?? ''}00000${goals.size > 0 ? 1 : 0}`;
  const applied = edits && (await workspace.apply({ id, edits, folders: [] }));
  if (applied?.kind !== 'applied') return new Map();
  const tests = typing.flatMap((one) => one.tests);
  const [first, ...others] = typing.map(({ cause }) => cause.id);
  const seen = await retest(session, {
    failures: tests.map(({ failure }) => failure),
    purpose: 'other-input',
    causeId: others.length === 0 ? (first ?? null) : null,
  });
  await workspace.revert([applied.change.id]);
  return new Map(tests.map((test) => [test, seen.observe(test.failure)]));
}

/** Returns the edits that give tests another input, and files other states; null if no test has anything to exchange. */
export async function otherInputEdits(
  { inputs, files }: Pick<OtherInput, 'inputs' | 'files'>,
  { root, contents }: { readonly root: string; readonly contents: Contents },
  goals: Goals = new Map(),
): Promise<FileEdit[] | null> {
  const texts = new Map<string, string>();
  for (const file of new Set(files)) {
    const goal = goals.get(file);
    const state = goal === undefined ? stateOf(root, file) : goal;
    if (state === null || state === 'other' || state.kind !== 'file') continue;
    const bytes = goal ? await contents.get(goal.hash) : readFileSync(path.join(root, file));
    const text = bytes.toString('utf8');
    if (Buffer.from(text).equals(bytes)) texts.set(file, text);
  }
  const exchanged = exchangeInputs(texts, inputs);
  if (exchanged.size === 0) return null;
  const edits: FileEdit[] = [];
  for (const file of new Set([...goals.keys(), ...exchanged.keys()])) {
    const before = stateOf(root, file);
    if (before === 'other') return null;
    if (before) await contents.put(readFileSync(path.join(root, file)));
    const goal = goals.get(file) ?? null;
    const text = exchanged.get(file);
    const state = goal ?? before;
    const after =
      text !== undefined && state ? { ...state, hash: await contents.put(Buffer.from(text)) } : goal;
    edits.push({ path: file, before, after });
  }
  return edits;
}

/**
 * Returns the states of files without the fixes of these causes and without the changes that broke them, and the causes for which that is
 * known. Where somebody else has changed the same file, it is not.
 */
async function withoutFixAndBlame(
  { workspace: { root }, folder }: Progress['session'],
  typing: readonly Typing[],
): Promise<{ readonly goals: Goals; readonly covered: readonly Typing[] }> {
  const goals = new Map<string, FileState | null>();
  const covered: Typing[] = [];
  for (const one of typing) {
    const { blame } = one.cause;
    const reverting = canBeReverted(blame) ? readChange(folder.dir, blame.change) : null;
    const fixes = one.changes.map((id) => readChange(folder.dir, id));
    if (!reverting || fixes.includes(null)) continue;
    const own = new Map<string, { now: FileState | null | 'other'; goal: FileState | null }>();
    const edits = fixes.flatMap((fix) => fix?.edits ?? []).toReversed();
    const back = edits.map(({ path: file, before, after }) => ({ path: file, from: after, to: before }));
    const broke = reverting.edits.map(({ path: file, before, after }) => ({
      path: file,
      from: before,
      to: after,
    }));
    const fits = [...back, ...broke].every(({ path: file, from, to }) => {
      const now = own.get(file)?.now ?? stateOf(root, file);
      const at = own.get(file)?.goal ?? (own.has(file) ? null : now);
      own.set(file, { now, goal: to });
      return at !== 'other' && isSame(at, from) && !goals.has(file);
    });
    if (!fits) continue;
    for (const [file, { goal }] of own) goals.set(file, goal);
    covered.push(one);
  }
  return { goals, covered };
}
