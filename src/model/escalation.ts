import { z } from 'zod';
import {
  type Attempt,
  exitWords,
  fileChangeShape,
  patchFile,
  wasReverted,
  describeAttemptEnd,
} from './attempt.js';
import { formatAgentName } from './built-in.js';
import { clip } from '../format.js';
import { describeBlame } from './blame.js';
import { type Cause, chooseRetryAxis } from './cause.js';
import { type Choice, choices, choiceText, sides } from './choice.js';
import { type Category, categoryShape, type Diagnosis, type RetryAxis, retryAxes } from './diagnosis.js';
import { formatTitles, listTests } from './failure.js';
import { proofShape } from './proof.js';
import { changeId, listOf, runIdShape, textOrNull, textList } from './shape.js';

/** A patch that waits for a person: the tests were red before, and green with it as often as a heal requires. */
const offerShape = z.object({
  side: z.enum(sides),
  proof: proofShape,
  /** The agent that made it. */
  agent: z.string(),
  /** The id of its change in the run that asked the question. */
  change: changeId,
  files: listOf(fileChangeShape),
  patch: patchFile,
});
export type Offer = z.infer<typeof offerShape>;

/** Returns the patches of a cause that wait for a person: the newest of each side. */
export function listOffers(
  attempts: readonly Pick<Attempt, 'agent' | 'change' | 'files' | 'patch' | 'end'>[],
): Offer[] {
  const offers = attempts.flatMap(({ agent, change, files, patch, end }): Offer[] =>
    end.kind === 'offered' && agent !== null && change !== null
      ? [{ side: end.side, agent, change, files, patch, proof: end.proof }]
      : [],
  );
  return sides.flatMap((side) => offers.findLast((offer) => offer.side === side) ?? []);
}

/** Describes a patch by its side and its proof: `tests (…): green 3 times with it, red before`. */
export function describeOffer({ side, agent, proof }: Pick<Offer, 'side' | 'agent' | 'proof'>): string {
  const times = proof.filter((step) => step === 'green').length;
  const isRedWithout = proof.slice(proof.indexOf('green')).includes('red');
  const redWithoutText = isRedWithout ? ', red without' : proof.includes('red') ? ', red before' : '';
  const result = removesTests({ proof })
    ? removalResult
    : `green ${times === 1 ? 'once' : `${times} times`} with it${redWithoutText}`;
  return `${side} (${choiceText[side].toLowerCase()}): by ${formatAgentName(agent)}, ${result}`;
}

/** True if a patch removes all tests of its cause, so none was green with it. */
export const removesTests = ({ proof }: Pick<Offer, 'proof'>) => !proof.includes('green');

const removalResult = 'which removes its tests';

/** A question to a person, before it is stored. */
const questionShape = z.object({
  signature: z.string(),
  category: categoryShape,
  retry: z.enum(retryAxes),
  /** The affected tests, named by file and titles, as Playwright prints them. */
  tests: listOf(z.object({ id: z.string(), name: z.string() })),
  /** The problem in plain words: no code, no stack trace. */
  problem: z.string(),
  /** The attempts so far, one sentence each. */
  tried: textList,
  recommendation: z.string(),
  choices: listOf(z.enum(choices)),
  offers: listOf(offerShape),
});
export type Question = z.infer<typeof questionShape>;

/** A stored question and, later, its answer. */
export const escalationShape = questionShape.extend({
  id: z.string(),
  project: z.string(),
  runId: z.string(),
  /** Unanswered, answered, skipped with its tests in quarantine, or closed because it no longer needed an answer. */
  state: z.enum(['pending', 'resolved', 'skipped', 'closed']),
  /** Why it is closed, as a sentence without its period; null otherwise. */
  closedBecause: textOrNull,
  choice: z.enum(choices).nullable(),
  guidance: textOrNull,
  createdAt: z.iso.datetime(),
  resolvedAt: z.iso.datetime().nullable(),
});
export type Escalation = z.infer<typeof escalationShape>;
export type EscalationState = Escalation['state'];

/** A person's answer. */
export interface Answer {
  readonly choice: Choice;
  /** The person's own words, or null. */
  readonly guidance: string | null;
  /** With `skip`: how many days the tests stay in quarantine; `QUARANTINE_DAYS` by default. */
  readonly days?: number | undefined;
  /** With `guide`: the files that agents may change for this failure, in addition to the app. */
  readonly allows?: 'tests' | undefined;
}

/** A person's decision, without the guidance. */
export const decisionShape = z.object({
  /** The offered patch that is right. */
  chosen: offerShape
    .pick({ side: true, agent: true, change: true })
    .extend({ runId: runIdShape, takesOut: z.boolean().default(false) })
    .nullable(),
  /** True if agents may change the tests of this failure. */
  allows: z.literal('tests').nullable(),
});
export type PersonsDecision = z.infer<typeof decisionShape>;

/** Returns the decision in an answer, or null. */
export function readDecision(escalation: Escalation, { choice, allows }: Answer): PersonsDecision | null {
  const offer = escalation.offers.find(({ side }) => side === choice);
  if (!offer) return allows === undefined ? null : { chosen: null, allows };
  const { side, agent, change } = offer;
  return {
    chosen: { side, agent, change, runId: escalation.runId, takesOut: removesTests(offer) },
    allows: null,
  };
}

/** The default length of a quarantine in days. Every quarantine ends, because nobody should forget a test in it. */
export const QUARANTINE_DAYS = 30;

const simplerGuidance =
  'Try a simpler version: the smallest change that corrects the behavior under test, and nothing else.';

/** Returns the guidance in an answer for the next agent, or null (ME-7). */
export function createGuidance({ choice, guidance, allows }: Answer): string | null {
  const words = guidance?.trim() ?? '';
  const parts = [
    ...(choice === 'simplify' ? [simplerGuidance] : []),
    ...(words === '' ? [] : [words]),
    ...(allows === 'tests' ? ['The tests of this failure may be changed.'] : []),
  ];
  return choice === 'skip' || parts.length === 0 ? null : parts.join(' ');
}

/**
 * Creates the question about a cause that no agent could heal, or whose patches only a person can judge. `agentQuestion` is the agent's own question,
 * or null, and `reason` the reason for asking a person.
 */
export function createQuestion(
  cause: Cause,
  {
    attempts,
    agentQuestion,
    reason = null,
  }: { attempts: readonly Attempt[]; agentQuestion: string | null; reason?: string | null },
): Question {
  const { diagnosis, signature } = cause.lead;
  const retry = chooseRetryAxis(cause);
  const offers = listOffers(attempts);
  const offer = offers.length > 0 ? `${describeOffers(cause, offers)} Otherwise: ` : '';
  return {
    signature,
    category: diagnosis.category,
    retry,
    tests: listTests([cause.lead, ...cause.members.filter((member) => member !== cause.lead)]).map(
      ({ id, titlePath }) => ({
        id,
        name: formatTitles(titlePath),
      }),
    ),
    problem: describeProblem({ ...diagnosis, retry }, { tests: cause.members.length, agentQuestion, reason }),
    tried: attempts.map(describeAttempt),
    recommendation: `${offer}${createRecommendation(retry, agentQuestion !== null)}`,
    choices: [...offers.map(({ side }) => side), ...orderChoices(retry)],
    offers,
  };
}

/** Describes the offered patches, and the blamed change to the app. */
function describeOffers({ blame }: Cause, offers: readonly Offer[]): string {
  const because = blame ? `${describeBlame(blame)}. ` : '';
  const choiceNames = offers.map(({ side }) => `\`${side}\` (${choiceText[side].toLowerCase()})`);
  const result = offers.every(removesTests) ? removalResult : 'and its tests were green with it';
  return `${because}Choose ${choiceNames.join(' or ')}: a patch is ready, ${result}.`;
}

/** Puts the recommended choice first. If credentials are missing, guidance does not help, because agents cannot create them. */
function orderChoices(retry: RetryAxis): readonly Choice[] {
  return retry === 'never_retry' ? ['provide-credentials', 'skip'] : ['guide', 'simplify', 'skip'];
}

function createRecommendation(retry: RetryAxis, hasQuestion: boolean): string {
  if (retry === 'never_retry') {
    return 'Provide the missing credentials or permission where the app and its tests run, then confirm it: the next run tries again.';
  }
  if (hasQuestion) return 'Answer the question in the guidance: the next run passes it to the agent.';
  return 'Describe in a sentence or two what the right behavior is, or where to look: the next run passes this guidance to the agent.';
}

function describeAttempt(attempt: Attempt): string {
  const { agent, slashCommand, exit, files, end } = attempt;
  if (agent === null) return 'The test was re-run without a change and failed again.';
  const names = files.slice(0, 3).map((file) => file.path);
  const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
  const changeText = files.length === 0 ? 'changed no files' : `changed ${names.join(', ')}${more}`;
  const exitText = exit === null || exit === 'completed' ? '' : `${exitWords[exit]} and `;
  const revertText = wasReverted(attempt) ? ', so the change was reverted' : '';
  return `${slashCommand ?? formatAgentName(agent)} ${exitText}${changeText}: ${describeAttemptEnd(end)}${revertText}.`;
}

const problemsByCategory: Record<Category, string> = {
  'build-error': 'The app cannot be built',
  'database-error': 'The database rejects a request from the app',
  'runtime-error': 'The app fails while it is running',
  'network-error': 'A request that the app depends on fails',
  'ui-error': 'The page does not show what the test expects',
  unknown: 'The test fails for an unknown reason',
  flaky: 'The test sometimes fails and sometimes passes on the same code',
};

/**
 * Describes the problem to somebody who reads no code: no stack trace, no selector, no query (ME-5). `tests` is the number of affected tests,
 * `agentQuestion` the agent's question, or null, and `reason` the reason for asking a person.
 */
export function describeProblem(
  diagnosis: Diagnosis,
  {
    tests,
    agentQuestion,
    reason = null,
  }: { readonly tests: number; readonly agentQuestion: string | null; readonly reason?: string | null },
): string {
  const place = describeFaultLocation(diagnosis);
  const testCountText = tests > 1 ? ` ${tests} tests fail because of it.` : '';
  const neededHelp =
    diagnosis.retry === 'never_retry'
      ? ' It needs credentials, a permission or a quota that only a person can provide.'
      : '';
  const isExplained = agentQuestion !== null || neededHelp !== '';
  const reasonText = reason === null || isExplained ? '' : ` Reason for this question: ${removeCode(reason)}`;
  const agentQuestionText = agentQuestion === null ? '' : ` The agent asks: ${removeCode(agentQuestion)}`;
  return `${problemsByCategory[diagnosis.category]}${place}.${testCountText}${neededHelp}${reasonText}${agentQuestionText}`;
}

function describeFaultLocation({ facts }: Diagnosis): string {
  if (facts.policy !== null && facts.table !== null)
    return `: a security rule on the table ${facts.table} forbids it`;
  if (facts.table !== null) return `, on the table ${facts.table}`;
  if (facts.endpoint !== null) return ` (${facts.endpoint})`;
  const file = facts.source?.replace(/:\d+(?::\d+)?$/, '');
  return file ? `, in ${file}` : '';
}

const MAX_PROSE = 400;

/** Returns an agent's text without fenced code, stack frames and line breaks, at most 400 characters. */
function removeCode(text: string): string {
  const prose = text
    .replaceAll(/```[\s\S]*?(?:```|$)/g, ' ')
    .split('\n')
    .filter((line) => !/^\s*at\s.+[:(]\S*\d+/.test(line))
    .join(' ');
  return clip(prose.replaceAll(/\s+/g, ' ').trim(), MAX_PROSE);
}
