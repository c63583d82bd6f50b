import { stripAnsi } from './classify/strip-ansi.js';
import { agentTroubleRules } from './agent-trouble-rules.js';

/** What the failure of an agent program asks for: wait and start again, start with less to read, or tell a person (AG-6). */
export type AgentTroubleKind = 'retryable' | 'context_overflow' | 'fatal';

/** The type that failures of agent programs have in all; the last two are set by the runtime alone, never read from a text. */
export type AgentFailureType = AgentTroubleKind | 'timeout' | 'aborted';

/** What a text of an agent program was taken for. */
export interface AgentTrouble {
  readonly kind: AgentTroubleKind;
  /** The id of the rule that decided, or null where none did. */
  readonly rule: string | null;
  /** What a person must do, or null where nobody has to or nobody knows. */
  readonly remedy: string | null;
}

/** Characters that are looked at: the end of an output holds what the program gave up on. */
const longest = 20_000;

/** Reads what an agent program says of its own failure; the first rule that matches decides, and none means fatal (AG-6). */
export function agentTroubleOf(text: string): AgentTrouble {
  const words = stripAnsi(text.slice(-longest));
  const rule = agentTroubleRules.find(({ pattern }) => pattern.test(words));
  return { kind: rule?.kind ?? 'fatal', rule: rule?.id ?? null, remedy: rule?.remedy ?? null };
}
