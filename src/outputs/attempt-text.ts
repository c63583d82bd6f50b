import type { ReportAttempt } from '../run/report.js';
import { costText, duration } from './format.js';
import { agentOutcomeWords, judgementWords, wasReverted } from './wording.js';

const unchanged = (text: string) => text;

/**
 * Formats an attempt in one line: `/debugger (claude) ran out of time, 12s, $0.02 → still red, reverted (the same error)`. What an agent or the
 * project wrote passes through `prose`; names of commands through `code`.
 */
export function attemptText(
  attempt: ReportAttempt,
  { code = unchanged, prose = unchanged }: { code?: typeof unchanged; prose?: typeof unchanged } = {},
): string {
  const { agent, slashCommand, runner, outcome, judged, durationMs, violations } = attempt;
  const who = slashCommand === null ? code(agent ?? '') : `${code(slashCommand)} (${prose(runner ?? '')})`;
  const ended = outcome === 'completed' ? '' : `${agentOutcomeWords[outcome]}, `;
  const took = `${who} ${ended}${duration(durationMs)}${costText(attempt)}`;
  // The violations follow and are the reason.
  const failedBecause = judged === 'green' || violations.length > 0 ? null : attempt.failedBecause;
  const because = failedBecause ? ` (${prose(failedBecause)})` : '';
  const end = `${judgementWords[judged]}${wasReverted(attempt) ? ', reverted' : ''}${because}`;
  return `${agent === null ? 'no agent, unchanged code' : took} → ${end}`;
}
