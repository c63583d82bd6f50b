import { stripAnsi } from '../classify/strip-ansi.js';
import { agentTroubleRules, type AgentFailureKind, type AgentTroubleReason } from './rules.js';

/** How an agent program failed: what its words call for, or what the runtime alone can know (AG-6). */
export type AgentTrouble = AgentFailureKind | 'timeout' | 'aborted';

/** What a failure text of an agent program means, and on which words that rests. */
export interface AgentDiagnosis {
  readonly kind: AgentFailureKind;
  readonly reason: AgentTroubleReason;
  /** The line that decided, at most 300 characters; null where no rule matched. */
  readonly evidence: string | null;
}

/** The end of a text is where a program says what it gave up on; more is not read. */
const MAX_CHARACTERS = 20_000;
const MAX_EVIDENCE_CHARACTERS = 300;

/** Classifies the failure text of an agent program: the first rule that matches decides, and none, or no text, is fatal. */
export function classifyAgentFailure(text: string): AgentDiagnosis {
  const clean = unframed(text.slice(-MAX_CHARACTERS));
  for (const { kind, reason, pattern, unless } of agentTroubleRules) {
    const match = pattern.exec(clean);
    if (match && !unless?.test(clean)) return { kind, reason, evidence: around(clean, match.index) };
  }
  return { kind: 'fatal', reason: 'unknown', evidence: null };
}

/** Without colours, the frames that terminal programs draw, and the line breaks with which they wrap their sentences. */
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
