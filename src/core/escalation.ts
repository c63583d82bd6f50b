import { type Attempt, endWords, exitWords, type Side, sides, wasReverted } from './attempt.js';
import { agentName } from './built-in.js';
import { blameLine } from './blame.js';
import { type Cause, retryOf } from './cause.js';
import type { Category, Diagnosis, RetryAxis } from './diagnosis.js';
import { testName, testsOf } from './failure.js';
import type { Proof } from './proof.js';

/** What a person may answer (ME-5). With a side, the patch that was offered is applied and proven again. */
export type Choice = Side | 'provide-credentials' | 'skip' | 'simplify' | 'guide';

/** The text of each choice as shown to the user. */
export const choiceText: Record<Choice, string> = {
  tests: 'The new behavior is right: apply the patch of the tests',
  app: 'The tests are right: apply the patch of the app',
  whole: 'Apply the whole patch, with what no agent may change',
  'provide-credentials': 'I have provided the credentials or the permission; try again',
  skip: 'Skip it: the test is still reported but does not fail the run',
  simplify: 'Have the agent try a simpler version',
  guide: 'Give guidance to the agent',
};

const triesAgain = 'the next run tries again';
const applies = 'its patch is applied and proven again, without an agent';

/** What follows from each answer, as the end of a sentence. */
export const followsFrom: Record<Choice, string> = {
  tests: applies,
  app: applies,
  whole: applies,
  'provide-credentials': triesAgain,
  skip: 'its tests are quarantined',
  simplify: triesAgain,
  guide: triesAgain,
};

/** A patch that waits for a person, proven: the tests were green with it as often as a heal has to be, and red without it. */
export interface Offer extends Pick<Attempt, 'files' | 'patch'> {
  readonly side: Side;
  readonly proof: Proof;
  /** Who made it. */
  readonly agent: string;
  /** The id of its change in the run that asked. */
  readonly change: string;
}

/** Returns the patches of a cause that wait for a person, the newest of each side. */
export function offersOf(
  attempts: readonly Pick<Attempt, 'agent' | 'change' | 'files' | 'patch' | 'end'>[],
): Offer[] {
  const offers = attempts.flatMap(({ agent, change, files, patch, end }): Offer[] =>
    end.kind === 'offered' && agent !== null && change !== null
      ? [{ side: end.side, agent, change, files, patch, proof: end.proof }]
      : [],
  );
  return sides.flatMap((side) => offers.findLast((one) => one.side === side) ?? []);
}

/** Says what it takes to apply a patch, and what its proof has shown: `tests (…): green 3 times with it, red without`. */
export function offerLine({ side, agent, proof }: Pick<Offer, 'side' | 'agent' | 'proof'>): string {
  const times = proof.filter((step) => step === 'green').length;
  const [meaning = ''] = choiceText[side].split(':');
  return `${side} (${meaning}): by ${agentName(agent)}, green ${times === 1 ? 'once' : `${times} times`} with it, red without`;
}

/** Unanswered, answered, or skipped with its tests in quarantine. */
export type EscalationState = 'pending' | 'resolved' | 'skipped';

/** A test that a question is about. */
export interface EscalatedTest {
  readonly id: string;
  /** File and titles, as Playwright prints them. */
  readonly name: string;
}

/** A question to a person, before it is stored. */
export interface Question {
  readonly signature: string;
  readonly category: Category;
  readonly retry: RetryAxis;
  readonly tests: readonly EscalatedTest[];
  /** What is wrong, in plain words: no code, no stack trace. */
  readonly problem: string;
  /** What was tried, one sentence per attempt. */
  readonly tried: readonly string[];
  readonly recommendation: string;
  readonly choices: readonly Choice[];
  readonly offers: readonly Offer[];
}

/** A stored question, with its answer once there is one. Times are ISO 8601. */
export interface Escalation extends Question {
  readonly id: string;
  readonly project: string;
  readonly runId: string;
  readonly state: EscalationState;
  readonly choice: Choice | null;
  readonly guidance: string | null;
  readonly createdAt: string;
  readonly resolvedAt: string | null;
}

/** What a person decided. */
export interface Answer {
  readonly choice: Choice;
  /** The person's own words, or null. */
  readonly guidance: string | null;
  /** With `skip`: how many days the tests stay in quarantine; `QUARANTINE_DAYS` by default. */
  readonly days?: number | undefined;
  /** With `guide`: what agents may change for this failure besides the app. */
  readonly allows?: 'tests' | undefined;
}

/** What an answer decides for the failure, besides guidance. */
export interface PersonsDecision {
  /** The offered patch that is right. */
  readonly chosen: (Pick<Offer, 'side' | 'agent' | 'change'> & { readonly runId: string }) | null;
  /** Whether agents may change the tests of this failure. */
  readonly allows: 'tests' | null;
}

/** Returns what an answer decides, or null. */
export function decisionFrom(asked: Escalation, { choice, allows }: Answer): PersonsDecision | null {
  const offer = asked.offers.find(({ side }) => side === choice);
  if (!offer) return allows === undefined ? null : { chosen: null, allows };
  const { side, agent, change } = offer;
  return { chosen: { side, agent, change, runId: asked.runId }, allows: null };
}

/** The default length of a quarantine in days. It ends by itself so that no test is forgotten in it. */
export const QUARANTINE_DAYS = 30;

const simpler =
  'Try a simpler version: the smallest change that corrects the behavior under test, and nothing else.';

/** Returns what an answer tells the next agent, or null (ME-7). */
export function guidanceFrom({ choice, guidance, allows }: Answer): string | null {
  const words = guidance?.trim() ?? '';
  const parts = [
    ...(choice === 'simplify' ? [simpler] : []),
    ...(words === '' ? [] : [words]),
    ...(allows === 'tests' ? ['The tests of this failure may be changed.'] : []),
  ];
  return choice === 'skip' || parts.length === 0 ? null : parts.join(' ');
}

/** Creates the question about a cause that no agent could heal, or of whose patches none is right for certain. `asked` is the agent's own question, or null. */
export function questionAbout(
  cause: Cause,
  { attempts, asked }: { attempts: readonly Attempt[]; asked: string | null },
): Question {
  const { diagnosis, signature } = cause.lead;
  const retry = retryOf(cause);
  const offers = offersOf(attempts);
  const offer = offers.length > 0 ? `${offeredInWords(cause, offers)} Otherwise: ` : '';
  return {
    signature,
    category: diagnosis.category,
    retry,
    tests: testsOf([cause.lead, ...cause.members.filter((one) => one !== cause.lead)]).map(
      ({ id, titlePath }) => ({
        id,
        name: testName(titlePath),
      }),
    ),
    problem: inPlainWords({ ...diagnosis, retry }, { tests: cause.members.length, asked }),
    tried: attempts.map(triedInWords),
    recommendation: `${offer}${recommendationFor(retry, asked !== null)}`,
    choices: [...offers.map(({ side }) => side), ...choicesFor(retry)],
    offers,
  };
}

/** Says what can be applied, and what the app's change was. */
function offeredInWords({ blame }: Cause, offers: readonly Offer[]): string {
  const because = blame ? `${blameLine(blame)}. ` : '';
  const ready = offers.map(({ side }) => `\`${side}\` (${choiceText[side].split(':')[0]?.toLowerCase()})`);
  return `${because}Choose ${ready.join(' or ')}: a patch is ready, and its tests were green with it.`;
}

/** What is recommended comes first. If credentials are missing, guidance does not help: agents cannot create them. */
function choicesFor(retry: RetryAxis): readonly Choice[] {
  return retry === 'never_retry' ? ['provide-credentials', 'skip'] : ['guide', 'simplify', 'skip'];
}

function recommendationFor(retry: RetryAxis, asked: boolean): string {
  if (retry === 'never_retry') {
    return 'Provide the missing credentials or permission where the app and its tests run, then confirm it: the next run tries again.';
  }
  if (asked) return 'Answer the question in the guidance: the next run passes it to the agent.';
  return 'Describe in a sentence or two what the right behavior is, or where to look: the next run passes this guidance to the agent.';
}

function triedInWords(attempt: Attempt): string {
  const { agent, slashCommand, exit, files, end } = attempt;
  if (agent === null) return 'The test was re-run without a change and failed again.';
  const names = files.slice(0, 3).map((file) => file.path);
  const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
  const did = files.length === 0 ? 'changed no files' : `changed ${names.join(', ')}${more}`;
  const ended = exit === null || exit === 'completed' ? '' : `${exitWords[exit]} and `;
  const undone = wasReverted(attempt) ? ', so the change was reverted' : '';
  return `${slashCommand ?? agentName(agent)} ${ended}${did}: ${endWords[end.kind]}${undone}.`;
}

/** What the description needs in addition to the diagnosis. */
interface Circumstances {
  /** How many tests fail because of it. */
  readonly tests: number;
  /** The agent's question, or null. */
  readonly asked: string | null;
}

const whatIsWrong: Record<Category, string> = {
  'build-error': 'The app cannot be built',
  'database-error': 'The database rejects what the app tries to do',
  'runtime-error': 'The app fails while it is running',
  'network-error': 'A request that the app depends on fails',
  'ui-error': 'The page does not show what the test expects',
  unknown: 'The test fails for an unknown reason',
  flaky: 'The test sometimes fails and sometimes passes on the same code',
};

/** Describes the problem to somebody who reads no code: no stack trace, no selector, no query (ME-5). */
export function inPlainWords(diagnosis: Diagnosis, { tests, asked }: Circumstances): string {
  const where = place(diagnosis);
  const many = tests > 1 ? ` ${tests} tests fail because of it.` : '';
  const needs =
    diagnosis.retry === 'never_retry'
      ? ' It needs credentials, a permission or a quota that only a person can provide.'
      : '';
  const question = asked === null ? '' : ` The agent asks: ${withoutCode(asked)}`;
  return `${whatIsWrong[diagnosis.category]}${where}.${many}${needs}${question}`;
}

function place({ facts }: Diagnosis): string {
  if (facts.policy !== null && facts.table !== null)
    return `: a security rule of the table ${facts.table} forbids it`;
  if (facts.table !== null) return `, on the table ${facts.table}`;
  if (facts.endpoint !== null) return ` (${facts.endpoint})`;
  const file = facts.source?.replace(/:\d+(?::\d+)?$/, '');
  return file ? `, in ${file}` : '';
}

/** Returns an agent's text without fenced code, stack frames and line breaks, at most 400 characters. */
function withoutCode(text: string): string {
  const kept = text
    .replaceAll(/```[\s\S]*?(?:```|$)/g, ' ')
    .split('\n')
    .filter((line) => !/^\s*at\s.+[:(]\S*\d+/.test(line))
    .join(' ');
  return kept.replaceAll(/\s+/g, ' ').trim().slice(0, 400);
}
