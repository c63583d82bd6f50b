import path from 'node:path';
import { readFileSync } from 'node:fs';
import { canBeReverted } from '../model/blame.js';
import type { Note, Violation } from '../model/guard-findings.js';
import { isGreen, type Observation } from './judge.js';
import { exchangeInputs, type OtherInput } from '../guard/other-input.js';
import { violationOf } from '../guard/rules.js';
import { type Contents, contentsOf, readChange } from '../workspace/change.js';
import { type FileEdit, type FileState, isSame, stateOf } from '../workspace/file-state.js';
import type { Answer, ChallengedFix } from './challenge.js';
import type { ProofTest } from './progress.js';
import type { Session } from './session.js';
import { retest } from './retest.js';

/** A fix whose tests type something. */
interface Typing extends Pick<ChallengedFix, 'cause' | 'attempt' | 'tests'> {
  readonly input: OtherInput;
  /** The changes that are its fix, with those that led to it. */
  readonly changes: readonly string[];
}

/**
 * Runs the tests of all these fixes once with another input than they type: a metamorphic check (HN-3). What is red is run once more, and
 * then without its fix and without the change that broke it: if the tests are green there with the other input, too, it is the fix that does not
 * answer it; if they are not, the app needs the input that they type. If it is not known what broke them, it is told.
 */
export async function otherInput(session: Session, fixes: readonly ChallengedFix[]): Promise<Answer[]> {
  const { signal } = session;
  const typing = fixes.flatMap(({ otherInput: input, parts, ...fix }): Typing[] => {
    const tests = fix.tests.filter(({ failure }) => failure.failure.scope === 'test');
    const changes = parts.flatMap(({ change }) => change ?? []);
    return input && tests.length > 0 ? [{ ...fix, input, tests, changes }] : [];
  });
  if (typing.length === 0) return [];
  const tried = await runAltered(session, typing, new Map());
  const once = typing.filter(({ tests }) => tests.some((test) => endOf(tried, test) === 'red'));
  const again = once.length > 0 && !signal.aborted ? await runAltered(session, once, new Map()) : new Map();
  const red = once.filter(({ tests }) => tests.some((test) => endOf(again, test) === 'red'));
  const { goals, covered } = await withoutFixAndBlame(session, red);
  const control =
    covered.length > 0 && !signal.aborted ? await runAltered(session, covered, goals) : new Map();
  if (signal.aborted) return [];
  return red.flatMap(({ cause: { id: causeId }, input, tests, attempt }): Answer[] => {
    const ends = new Set(tests.map((test) => endOf(control, test)));
    if (ends.has('red')) return [];
    const edited = attempt.files[0]?.path ?? '';
    if (ends.has('green')) return [{ causeId, kind: 'reject', violations: [hardCoded(input, edited)] }];
    return [{ causeId, kind: 'tell', notes: [redNote(input, edited)] }];
  });
}

type Rerun = ReadonlyMap<ProofTest, Observation>;

function endOf(rerun: Rerun, test: ProofTest): 'green' | 'red' | 'unknown' {
  const now = rerun.get(test);
  if (!now) return 'unknown';
  if (isGreen(now)) return 'green';
  return now.ended === 'failed' ? 'red' : 'unknown';
}

/** Returns what is wrong with a fix that is red with another input; `edited` is a file of it. */
function hardCoded({ inputs }: OtherInput, file: string): Violation {
  const detail = `the test is red with an input other than ${inputs.map(quoted).join(', ')}`;
  return violationOf('input-hard-coded', { file, detail });
}

/** Says that tests are red with another input, where no run could show whether the app needs theirs. */
export function redNote({ inputs }: OtherInput, file: string): Note {
  const says = `the tests are red with another input than ${inputs.map(quoted).join(', ')}, and no run could show whether the app needs it`;
  return { file, line: null, says };
}

const quoted = (text: string) => JSON.stringify(text);

type Goals = ReadonlyMap<string, FileState | null>;

/**
 * Runs the tests with another input, and with files in other states. All of it is in the project for this run alone, under the journal like any
 * change (HN-2). Returns what it showed of each test; nothing if it could not be run.
 */
async function runAltered(session: Session, typing: readonly Typing[], goals: Goals): Promise<Rerun> {
  const { workspace, folder } = session;
  const input = {
    inputs: typing.flatMap(({ input: { inputs } }) => inputs),
    files: typing.flatMap(({ input: { files } }) => files),
  };
  const project = { root: workspace.root, contents: contentsOf(folder.dir) };
  const edits = await otherInputEdits(input, project, goals);
  // No agent's change has an id like this.
  const id = `${typing[0]?.changes.at(-1) ?? ''}00000${goals.size > 0 ? 1 : 0}`;
  const applied = edits && (await workspace.apply({ id, edits, folders: [] }));
  if (applied?.kind !== 'applied') return new Map();
  const tests = typing.flatMap((fix) => fix.tests);
  const [first, ...others] = typing.map(({ cause }) => cause.id);
  const rerun = await retest(session, {
    failures: tests.map(({ failure }) => failure),
    purpose: 'other-input',
    causeId: others.length === 0 ? (first ?? null) : null,
  });
  await workspace.revert([applied.change.id]);
  return new Map(tests.map((test) => [test, rerun.observe(test.failure)]));
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
  { workspace: { root }, folder }: Session,
  typing: readonly Typing[],
): Promise<{ readonly goals: Goals; readonly covered: readonly Typing[] }> {
  const goals = new Map<string, FileState | null>();
  const covered: Typing[] = [];
  for (const fix of typing) {
    const { blame } = fix.cause;
    const reverting = canBeReverted(blame) ? readChange(folder.dir, blame.change) : null;
    const fixes = fix.changes.map((id) => readChange(folder.dir, id));
    if (!reverting || fixes.includes(null)) continue;
    const own = new Map<string, { now: FileState | null | 'other'; goal: FileState | null }>();
    const edits = fixes.flatMap((fix) => fix?.edits ?? []).toReversed();
    const back = edits.map(({ path: file, before, after }) => ({ path: file, from: after, to: before }));
    const broke = reverting.edits.map((edit) => ({ path: edit.path, from: edit.before, to: edit.after }));
    const fits = [...back, ...broke].every(({ path: file, from, to }) => {
      const now = own.get(file)?.now ?? stateOf(root, file);
      const at = own.get(file)?.goal ?? (own.has(file) ? null : now);
      own.set(file, { now, goal: to });
      return at !== 'other' && isSame(at, from) && !goals.has(file);
    });
    if (!fits) continue;
    for (const [file, { goal }] of own) goals.set(file, goal);
    covered.push(fix);
  }
  return { goals, covered };
}
