import { fenced, inline } from '../fenced.js';
import { isKept, getEndReason } from '../model/attempt.js';
import { formatCut, formatViolation } from '../model/guard-findings.js';
import type { AgentContext, PreviousAttempt } from './context.js';
import { formatFiles } from './prompt-changes.js';
import { formatSection, renderSection, type Section, takeFirstTexts } from './prompt-section.js';

/** Renders the fix for this failure in an earlier run. */
export function renderEarlierFix(fix: AgentContext['earlierFix']): Section | null {
  if (fix === null) return null;
  const times = fix.times === 1 ? 'once' : `${fix.times} times`;
  const summary = fix.summary ? ` The fix, in the agent's words: ${inline(fix.summary)}.` : '';
  const files = fix.files.map((file) => inline(file.path)).slice(0, 5);
  const text = `This failure was healed ${times} before, last on ${fix.healedAt.slice(0, 10)}, and the same error is back. Either that fix did not last, and the underlying cause is still to be found, or another change has the same effect.${summary}`;
  return renderSection({
    title: 'Healed before',
    before: text + (!fix.patch && files.length > 0 ? ` It changed ${files.join(', ')}.` : ''),
    ...(fix.patch ? { block: { text: fix.patch, longest: 2_000 } } : {}),
  });
}

/** Renders the failed attempts, and demands a different approach (ME-3). */
export function renderAttempts(context: AgentContext): Section | null {
  // A kept change fixed another error, after which this one appeared.
  const kept = context.previousAttempts.filter(isKept);
  const failed = context.previousAttempts.filter((one) => one.agent !== null && !isKept(one));
  if (failed.length + kept.length === 0) return null;
  return (room) => {
    const texts = [5, 4, 3, 2, 1].map((count) => {
      const latest = failed.slice(-count);
      const longest = Math.min(2_000, room / 2 / (latest.length + kept.length));
      const before = kept.map((attempt) => describeKeptFix(attempt, longest));
      if (failed.length === 0) return formatSection('Before this error', before.join('\n\n'));
      const hasOmittedAttempts = latest.length < failed.length;
      // A person's answer resets the count, but earlier attempts are still listed.
      const number = Math.max(context.attempt, failed.length + 1);
      return formatSection(
        'Previous attempts',
        [
          `This is attempt ${number}. The goal is the same: ${context.task}.${hasOmittedAttempts ? ' The earlier ones are in context.json.' : ''}`,
          ...before,
          ...latest.map((attempt) =>
            describeFailedAttempt(attempt, { number: failed.indexOf(attempt) + 1, longest }),
          ),
          'Do not repeat them; choose a fundamentally different approach.',
        ].join('\n\n'),
      );
    });
    return texts.find((text) => text.length <= room) ?? '';
  };
}

function describeKeptFix({ files, ...attempt }: PreviousAttempt, longest: number): string {
  return [
    `Another error came first. The fix for it led to this error and is still in the code (${formatFiles(files.map((file) => file.path))}): build on it, or remove it.`,
    ...quoteAttempt(attempt, longest),
  ].join('\n');
}

function describeFailedAttempt(
  { cut, ...attempt }: PreviousAttempt,
  { number, longest }: { readonly number: number; readonly longest: number },
): string {
  return [
    `APPROACH ${number} FAILED: ${inline(getEndReason(attempt) ?? 'the test is still red')}`,
    ...quoteAttempt(attempt, longest),
    `${attempt.files.length === 0 ? 'It changed no files.' : 'Its change was reverted.'}${formatCutFiles(cut)}`,
  ].join('\n');
}

/** A patch that has room for fewer characters is not worth showing. */
const MIN_PATCH = 160;

/** Quotes what an agent said about its fix, and the fix itself. */
function quoteAttempt({ claim, patch }: Pick<PreviousAttempt, 'claim' | 'patch'>, longest: number): string[] {
  return [
    ...(claim?.summary ? [`It said: ${inline(claim.summary)}`] : []),
    ...(patch && longest > MIN_PATCH ? [fenced(patch, { longest })] : []),
  ];
}

function formatCutFiles(cut: PreviousAttempt['cut'] = []): string {
  const files = cut.slice(0, 5).map((file) => `\n- ${inline(formatCut(file))}`);
  return files.length > 0 ? `\nIts changes to read-only files were removed:${files.join('')}` : '';
}

/** Renders the guard's findings. A second rejection ends the cause (HN-3). */
export function renderRejections(attempts: readonly PreviousAttempt[]): Section | null {
  const violations = attempts.flatMap(({ end }) => (end.kind === 'rejected' ? end.violations : []));
  const [first, ...others] = violations.map((violation) =>
    [
      `- ${inline(formatViolation(violation))}`,
      ...(violation.before === null ? [] : [`  before: ${inline(violation.before)}`]),
      ...(violation.after === null ? [] : [`  after: ${inline(violation.after)}`]),
    ].join('\n'),
  );
  if (first === undefined) return null;
  const consequence =
    'All of it was reverted. If the next change is rejected too, there will be no further attempt.';
  return (room) => {
    const rest = takeFirstTexts(others, Math.min(2_000, room - consequence.length - 60) - first.length);
    return formatSection('Rejected', `${[first, ...rest].join('\n')}\n\n${consequence}`);
  };
}
