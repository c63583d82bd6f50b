import { z } from 'zod';
import { sides } from './choice.js';
import { cutShape, noteShape, violationShape } from './guard-findings.js';
import { proofShape, testProofShape } from './proof.js';
import { changeId, count, countOrNull, listOf, textOrNull } from './shape.js';

/** An agent's statement about its own work; only the re-run decides whether it is true. */
const claimShape = z.object({ status: z.enum(['fixed', 'not-fixed', 'needs-person']), summary: z.string() });
export type AgentClaim = z.infer<typeof claimShape>;

/** The usage that an agent program reports; null for figures that it does not report. */
const usageShape = z.object({
  costUsd: countOrNull,
  inputTokens: countOrNull,
  outputTokens: countOrNull,
  turns: countOrNull,
  sessionId: textOrNull,
});
export type AgentUsage = z.infer<typeof usageShape>;

/** How one agent process ended. Even a misbehaving agent results in an end, never in an exception. */
export type AgentEnd =
  /** Exited with 0, or signaled completion and was then stopped by self-heal. */
  | { readonly kind: 'completed' }
  /** `reason` is the program's own error, if it reported one. */
  | { readonly kind: 'exited'; readonly exitCode: number; readonly reason?: string }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly afterMs: number }
  | { readonly kind: 'spawn-failed'; readonly reason: string }
  /** Self-heal was interrupted. */
  | { readonly kind: 'aborted' }
  /** Reached its own limit of turns or cost; its edits until then may still be a fix. */
  | { readonly kind: 'limited'; readonly reason: string }
  /** Waiting helps: rate limited, overloaded, or the connection dropped (AG-7). `waitMs` is set if the provider names a time. */
  | { readonly kind: 'retryable'; readonly reason: string; readonly waitMs?: number }
  /** Its input is too long for its model (AG-7). */
  | { readonly kind: 'context-overflow'; readonly reason: string }
  /** The program cannot work here at all: not logged in, no credit, unknown model. `remedy` is for a person. */
  | { readonly kind: 'unusable'; readonly reason: string; readonly remedy: string };

/** One agent process, from start to end. */
export interface AgentRun {
  readonly end: AgentEnd;
  readonly claim: AgentClaim | null;
  /** Its opinion, if its task was to review a fix. */
  readonly opinion?: Opinion;
  readonly usage: AgentUsage;
  /** Edits that the program refused, in its own words. */
  readonly denials: readonly string[];
  readonly durationMs: number;
  /** The last lines of its output, for the report; all of it is in its log file. */
  readonly tail: string;
  /** Leftover processes that self-heal had to end, as `pid command`. */
  readonly orphans: readonly string[];
}

/** How an agent's program ended after any restarts (the kinds of `AgentEnd` that remain). */
export const exits = [
  'completed',
  'exited',
  'signalled',
  'timed-out',
  'spawn-failed',
  'aborted',
  'limited',
  'unusable',
] as const satisfies readonly AgentEnd['kind'][];

export type Exit = (typeof exits)[number];

/** Creates the shape of an attempt's end, with its reason in one line for the next agent and for reports. */
const createEndShape = <K extends string>(kind: K) =>
  z.object({ kind: z.literal(kind), because: z.string() });

/** How an attempt ended. Its change is in the project while it is `green` or `changed`, and only then. */
const attemptEndShape = z.discriminatedUnion('kind', [
  /** Its tests are green with the change. `proof` has the runs that prove it (HN-5), `testProofs` those of each test if there are several (HL-6). */
  z.object({
    kind: z.literal('green'),
    proof: proofShape,
    testProofs: listOf(testProofShape).exactOptional(),
  }),
  /** Its tests now fail with another error, which becomes a new cause (HL-3). */
  createEndShape('changed'),
  /** It was `green` or `changed`, and was reverted: it broke other tests, led to no heal, or was undone. */
  createEndShape('taken-out'),
  createEndShape('still-failing'),
  /** The test is gone or skipped (HL-10). */
  createEndShape('vanished'),
  /** Green, but not because of the change (HN-5). `isOutside`: green in each run since the agent worked, although not because of its patch. */
  createEndShape('flaky').extend({ isOutside: z.literal(true).exactOptional() }),
  /** It contains changes that no honest fix makes (HN-3). */
  createEndShape('rejected').extend({ violations: listOf(violationShape) }),
  /** Green and proven, but only a person can decide whether it is right (BL-6), or its reviewer says that it hides the fault (HN-11). */
  createEndShape('offered').extend({
    side: z.enum(sides),
    proof: proofShape,
    hides: z.literal(true).exactOptional(),
  }),
  /** It could not be applied, because the same lines changed in the project while the agent worked (HN-1). */
  createEndShape('conflict'),
  /** The agent's change cannot become part of the project, for example because it has a link out of the project. */
  createEndShape('refused'),
  /** Its change could not be written to the project. */
  createEndShape('unwritable'),
  /** The agent's program denied every edit. */
  createEndShape('denied'),
  /** The agent's program cannot work here; `remedy` is for a person. */
  createEndShape('unusable').extend({ remedy: z.string() }),
  createEndShape('interrupted'),
]);
export type AttemptEnd = z.infer<typeof attemptEndShape>;

const endWords: Readonly<Record<AttemptEnd['kind'], string>> = {
  green: 'green',
  changed: 'different error',
  'taken-out': 'it did not hold',
  'still-failing': 'still red',
  vanished: 'the test is gone, which does not count as healed',
  flaky: 'green, but not because of the change',
  rejected: 'rejected',
  offered: 'waits for a person',
  conflict: 'not applied: the same lines changed in the meantime',
  refused: 'not applied',
  unwritable: 'not applied',
  denied: 'every edit was denied',
  unusable: 'the program cannot work here',
  interrupted: 'interrupted',
};

/** Describes an end; its reason may follow. */
export function describeAttemptEnd(end: AttemptEnd): string {
  return hidesFault({ end }) ? 'its reviewer objects' : endWords[end.kind];
}

/** How an agent's program ended, as the rest of a sentence that begins with `the agent`. */
export const exitWords: Readonly<Record<Exit, string>> = {
  completed: 'completed',
  exited: 'exited with an error',
  signalled: 'was killed',
  'timed-out': 'ran out of time',
  'spawn-failed': 'could not start',
  aborted: 'was interrupted',
  limited: 'reached its own limit',
  unusable: 'cannot be used',
};

/**
 * The sources of fixes that are tried before an agent, in this order: a patch that a person chose, the artifacts of other machines, fixes of earlier
 * runs, the built-in fixer. Their fixes cost nothing, use no retry, and are judged and proven like an agent's.
 */
export const proposers = ['person', 'patch', 'memory', 'fixer'] as const;

export type Proposer = (typeof proposers)[number];

/** One file that an agent changed, relative to the project, with lines added and removed; null for binary files. */
export const fileChangeShape = z.object({ path: z.string(), added: countOrNull, removed: countOrNull });
export type FileChange = z.infer<typeof fileChangeShape>;

/** The path of an attempt's file, relative to the folder of its run; with `../<run-id>/`, a file of another run. */
const createAttemptFileShape = (ending: string) =>
  z
    .string()
    .regex(new RegExp(String.raw`^(?:\.\./[\w-]+/)?attempts/\d+\.${ending}$`))
    .nullable();
export const patchFile = createAttemptFileShape('patch');

/** A reviewer's verdicts on a fix: it treats the cause, it hides the fault, or a fact that would decide is missing. */
export const opinionVerdicts = ['honest', 'hides', 'unsure'] as const;

/** The opinion of an agent on the fix by another (HN-11). */
export const opinionShape = z.object({
  verdict: z.enum(opinionVerdicts),
  /** The criticized position in the fix, if it names one; relative to the project. */
  file: textOrNull,
  line: countOrNull,
  /** The reason; may be empty for `honest`. */
  why: z.string(),
});
export type Opinion = z.infer<typeof opinionShape>;

/** The result of a review of a fix: an opinion, or why there is none. Only a `not-read` fix is accepted without an opinion. */
export const reviewShape = opinionShape.extend({
  verdict: z.enum([...opinionVerdicts, 'no-answer', 'not-read']),
  /** The program that reviewed it; null if none did. */
  by: textOrNull,
});
export type Review = z.infer<typeof reviewShape>;

const reviewWords: Readonly<Record<Review['verdict'], string>> = {
  honest: 'honest',
  hides: 'it hides the fault',
  unsure: 'unsure',
  'no-answer': 'nobody could review it',
  'not-read': 'not reviewed',
};

/** Formats a review as one line: `codex: it hides the fault: it swallows the error (src/a.ts:3)`. */
export function formatReview({
  verdict,
  by = null,
  file,
  line,
  why,
}: Omit<Review, 'by'> & Partial<Pick<Review, 'by'>>): string {
  const position = file === null ? '' : ` (${file}${line === null ? '' : `:${line}`})`;
  return `${by === null ? '' : `${by}: `}${reviewWords[verdict]}${why === '' ? '' : `: ${why}`}${position}`;
}

/** One agent run, or one re-run without an agent, together with the re-run that judges it. */
export const attemptShape = z.object({
  /** Counted from 1 within the cause. */
  n: count,
  /** Null for a re-run without an agent (HL-5, AG-5). */
  agent: textOrNull,
  slashCommand: textOrNull,
  runner: textOrNull,
  /** How its program ended, whether or not its work was good; null if no program ran. */
  exit: z.enum(exits).nullable(),
  claim: claimShape.nullable(),
  usage: usageShape.nullable(),
  durationMs: count,
  files: listOf(fileChangeShape),
  patch: patchFile,
  /** The prompt that the agent got; null without an agent. */
  prompt: createAttemptFileShape('prompt.md'),
  /** Id of the change; null if there was nothing to apply. */
  change: changeId.nullable(),
  /** The edits that were removed from its change before it was tried; absent if there were none. */
  cut: listOf(cutShape).exactOptional(),
  /** Notes on its change for a reviewer; absent if there are none. */
  notes: listOf(noteShape).exactOptional(),
  /** The reviewer's opinion of its change; absent if none was needed. */
  reading: reviewShape.exactOptional(),
  /** Who proposed the fix, if no agent worked on it in this run; absent otherwise. */
  proposedBy: z.enum(proposers).exactOptional(),
  /** The id of the remembered fix; absent for any other attempt. */
  remembered: z.string().exactOptional(),
  end: attemptEndShape,
});
export type Attempt = z.infer<typeof attemptShape>;

/** An attempt before it is judged. */
export type PendingAttempt = Omit<Attempt, 'end'>;

/** Creates an attempt without an agent. */
export function createAttempt(n: number): PendingAttempt {
  return {
    n,
    agent: null,
    slashCommand: null,
    runner: null,
    exit: null,
    claim: null,
    usage: null,
    durationMs: 0,
    files: [],
    patch: null,
    prompt: null,
    change: null,
  };
}

/** True if an attempt's change is in the project. */
export function isKept({ end }: Pick<Attempt, 'end'>): boolean {
  return end.kind === 'green' || end.kind === 'changed';
}

/** True if an attempt's change was reverted. A change that was rejected or did not apply was never in the project. */
export function wasReverted({ files, end }: Pick<Attempt, 'files' | 'end'>): boolean {
  const revertedKinds: AttemptEnd['kind'][] = ['taken-out', 'still-failing', 'vanished', 'flaky', 'offered'];
  return files.length > 0 && revertedKinds.includes(end.kind);
}

/** True if a reviewer says that an attempt's fix hides the fault. */
export function hidesFault({ end }: Pick<Attempt, 'end'>): boolean {
  return end.kind === 'offered' && end.hides === true;
}

/** Returns why an attempt did not heal its cause; null if it did. */
export function getEndReason({ end }: Pick<Attempt, 'end'>): string | null {
  return end.kind === 'green' ? null : end.because;
}

/** The costs that agent programs report, in money and tokens; null for figures that none of them reports. */
export type AttemptCosts = Pick<AgentUsage, 'costUsd' | 'inputTokens' | 'outputTokens'>;

/** Adds up the costs of attempts. */
export function sumCosts(attempts: readonly Pick<Attempt, 'usage'>[]): AttemptCosts {
  const sum = (figure: keyof AttemptCosts) => {
    const amounts = attempts.flatMap(({ usage }) => usage?.[figure] ?? []);
    return amounts.length === 0 ? null : amounts.reduce((total, amount) => total + amount, 0);
  };
  return { costUsd: sum('costUsd'), inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}
