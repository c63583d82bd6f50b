import type { ReportAttempt } from '../run/report.js';
import { costText, duration } from './format.js';

const unchanged = (text: string) => text;

/**
 * Formats an attempt in one line: `/debugger (claude) timed-out, 12s, $0.02 → still-failing, reverted (the same error)`. What an agent or the
 * project wrote passes through `prose`; names of commands through `code`.
 */
export function attemptText(
  attempt: ReportAttempt,
  { code = unchanged, prose = unchanged }: { code?: typeof unchanged; prose?: typeof unchanged } = {},
): string {
  const { agent, slashCommand, runner, outcome, judged, durationMs, reverted, failedBecause } = attempt;
  const who = slashCommand === null ? code(agent ?? '') : `${code(slashCommand)} (${prose(runner ?? '')})`;
  const ended = outcome === 'completed' ? '' : `${outcome}, `;
  const took = `${who} ${ended}${duration(durationMs)}${costText(attempt)}`;
  const because = failedBecause && judged !== 'green' ? ` (${prose(failedBecause)})` : '';
  return `${agent === null ? 'no agent, unchanged code' : took} → ${judged}${reverted ? ', reverted' : ''}${because}`;
}
