import { type Note, noteLine } from '../../core/guard/note.js';
import type { Violation } from '../../core/guard/violation.js';
import { proofScope, type ProofStep } from '../../core/proof.js';
import { costText, counted, duration, fileText } from '../format.js';
import { judgementWords, sentence } from '../wording.js';
import type { ReportAttempt, ReportCause } from '../../run/report.js';
import { firstItems, html, nothing, type Markup } from './markup.js';
import { showDiff } from './show-diff.js';

/** Shows what was tried, in order: who tried it, what it changed, and what the guard and the re-runs said. */
export function showAttempts(
  attempts: readonly ReportAttempt[],
  patches: ReadonlyMap<string, string>,
): Markup {
  if (attempts.length === 0) return nothing;
  return html`<ol class="attempts">
    ${attempts.map((one) => html`<li>${showAttempt(one, patches.get(one.patch ?? '') ?? null)}</li>`)}
  </ol>`;
}

/** Shows one attempt, with its patch if there is one. */
function showAttempt(attempt: ReportAttempt, patch: string | null): Markup {
  const { n, slashCommand, agent, runner, outcome, judged, failedBecause, claim, reverted } = attempt;
  const who =
    agent === null
      ? 'unchanged code, no agent'
      : slashCommand === null
        ? agent
        : `${slashCommand} (${runner ?? ''})`;
  const because = failedBecause && judged !== 'green' ? `: ${failedBecause}` : '.';
  return html`<p>
      <strong>Attempt ${n}: ${who}</strong>
      ${agent === null ? '' : html`<span class="fact">${outcome}, ${duration(attempt.durationMs)}${spent(attempt)}</span>`}
    </p>
    <p class="judged ${judged}">
      ${sentence(judgementWords[judged])}${because}${reverted ? ' The change was reverted.' : ''}
    </p>
    ${claim?.summary ? html`<p class="quiet">The agent said “${claim.status}”: ${claim.summary}</p>` : ''}
    ${showViolations(attempt.violations)} ${showNotes(attempt.notes)} ${showChange(attempt, patch)}`;
}

function spent(attempt: ReportAttempt): string {
  const { inputTokens, outputTokens } = attempt;
  const tokens =
    inputTokens === null && outputTokens === null
      ? ''
      : `, ${inputTokens ?? 0} tokens in, ${outputTokens ?? 0} out`;
  return `${costText(attempt)}${tokens}`;
}

function showViolations(violations: readonly Violation[]): Markup {
  if (violations.length === 0) return nothing;
  const line = (sign: '−' | '+', text: string | null) =>
    text === null
      ? ''
      : html`<div class="${sign === '+' ? 'added' : 'removed'}">
          <span class="sign">${sign}</span><code>${text}</code>
        </div>`;
  return html`<ul class="violations" aria-label="What the guard found">
    ${firstItems(
      violations.map(
        ({ file, line: at, rule, says, before, after }) =>
          html`<li>
            <strong>${rule}</strong> in <code>${file}${at === null ? '' : `:${at}`}</code>:
            ${says}${line('−', before)}${line('+', after)}
          </li>`,
      ),
      20,
    )}
  </ul>`;
}

function showNotes(notes: readonly Note[]): Markup {
  if (notes.length === 0) return nothing;
  return html`<ul class="notes" aria-label="To review">
    ${firstItems(
      notes.map((one) => html`<li>To review: ${noteLine(one)}</li>`),
      20,
    )}
  </ul>`;
}

/** The maximum number of lines of a diff; the rest is counted. */
const DIFF_LINES = 400;

function showChange({ files, patch: path, reverted }: ReportAttempt, patch: string | null): Markup {
  if (files.length === 0) return nothing;
  const names = files.slice(0, 8).map(fileText).join(', ');
  const title = `${counted(files.length, 'file')} changed: ${names}${files.length > 8 ? ' …' : ''}`;
  if (patch === null)
    return html`<p class="quiet">${title}${path === null ? '' : html` (<code>${path}</code>)`}</p>`;
  const diff = showDiff(patch, { maxLines: DIFF_LINES });
  return reverted
    ? html`<details>
        <summary>${title}, reverted</summary>
        ${diff}
      </details>`
    : html`<details open>
        <summary>${title}</summary>
        ${diff}
      </details>`;
}

/** Shows the runs that prove a heal, with a bar at each change of result, and how many tests they cover. */
export function showProof({ proof, testProofs }: ReportCause): Markup {
  if (proof.length === 0) return nothing;
  const step = (one: ProofStep, at: number) =>
    html`${at > 0 && one !== proof[at - 1] ? ' | ' : ' '}<span class="step ${one}">${one}</span>`;
  return html`<p class="proof">
    <strong>Proof</strong>${proof.map(step)} <span class="quiet">${proofScope(testProofs)}</span>
  </p>`;
}
