import type { AgentEnd } from '../attempt.js';
import { stripAnsi } from '../classify/strip-ansi.js';
import { agentErrorKinds, agentErrorRules, type AgentErrorKind, type AgentErrorReason } from './rules.js';

/** How an agent program failed: either as its output says, or in a way that only the runtime can know (AG-6). */
export type AgentError = AgentErrorKind | 'timeout' | 'aborted';

/** What the error output of an agent program means, and which line shows it. */
export interface AgentDiagnosis {
  readonly kind: AgentErrorKind;
  readonly reason: AgentErrorReason;
  /** The line that decided, at most 300 characters; null if no rule matched. */
  readonly evidence: string | null;
}

/** Only the end of a text is read, because that is where programs say what made them give up. */
const MAX_CHARACTERS = 20_000;
const MAX_EVIDENCE_CHARACTERS = 300;

/** Classifies the failure text of an agent program. The first matching rule decides; without a match, or without text, it is fatal. */
export function classifyAgentError(text: string): AgentDiagnosis {
  const clean = unframed(text.slice(-MAX_CHARACTERS));
  for (const { reason, pattern, unless } of agentErrorRules) {
    const match = pattern.exec(clean);
    if (match && !unless?.test(clean))
      return { kind: agentErrorKinds[reason], reason, evidence: around(clean, match.index) };
  }
  return { kind: 'fatal', reason: 'unknown', evidence: null };
}

/** Removes colors, the frames that terminal programs draw, and the line breaks with which they wrap sentences. */
function unframed(text: string): string {
  return stripAnsi(text)
    .replaceAll(/[│┃╭╮╰╯─━⎿■✕✗●]/g, ' ')
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/(?<=[a-z,])\n(?=[a-z])/g, ' ')
    .trim();
}

function around(text: string, index: number): string {
  const start = text.lastIndexOf('\n', index) + 1;
  const end = text.indexOf('\n', index);
  const line = text.slice(start, end === -1 ? undefined : end);
  const from = Math.max(0, index - start - MAX_EVIDENCE_CHARACTERS / 2);
  return line.slice(from, from + MAX_EVIDENCE_CHARACTERS).trim();
}

/** Returns the error that kept an agent program from working (AG-6), or null if it did work, successfully or not. */
export function errorOfEnd({ kind }: AgentEnd): AgentError | null {
  if (kind === 'timed-out') return 'timeout';
  if (kind === 'aborted' || kind === 'retryable') return kind;
  if (kind === 'context-overflow') return 'context_overflow';
  return kind === 'unusable' ? 'fatal' : null;
}
