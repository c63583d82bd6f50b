import { type Note, noteLine } from '../../core/guard/note.js';
import type { Cut } from '../../core/guard/cut.js';
import type { Violation } from '../../core/guard/violation.js';
import { isBuiltIn } from '../../core/built-in-fixer.js';
import { proofScope, type ProofStep } from '../../core/proof.js';
import { costText, counted, duration, fileText } from '../format.js';
import { agentOutcomeWords, judgementWords, sentence, wasReverted } from '../wording.js';
import type { ReportAttempt, ReportCause } from '../../run/report.js';
import type { Detail } from './detail.js';
import { firstItems, html, nothing, type Markup } from './markup.js';
import { showDiff } from './show-diff.js';

/** Shows what was tried, in order: who tried it, what it changed, and what the guard and the re-runs said. */
export function showAttempts(
  attempts: readonly ReportAttempt[],
  patches: ReadonlyMap<string, string>,
  detail: Detail,
): Markup {
  if (attempts.length === 0) return nothing;
  return html`<ol class="attempts">
    ${attempts.map((one) => html`<li>${showAttempt(one, patches.get(one.patch ?? '') ?? null, detail)}</li>`)}
  </ol>`;
}

/** Shows one attempt, with its patch if there is one. */
function showAttempt(attempt: ReportAttempt, patch: string | null, detail: Detail): Markup {
  const { n, slashCommand, agent, runner, outcome, judged, failedBecause, claim } = attempt;
  const who =
    agent === null
      ? 'unchanged code, no agent'
      : slashCommand === null
        ? agent
        : `${slashCommand} (${runner ?? ''})`;
  const because =
    failedBecause && judged !== 'green' && attempt.violations.length === 0 ? `: ${failedBecause}` : '';
  return html`<p>
      <strong>Attempt ${n}: ${who}</strong>
      ${agent === null ? '' : html`<span class="fact">${agentOutcomeWords[outcome]}, ${duration(attempt.durationMs)}${spent(attempt)}</span>`}
    </p>
    <p class="judged ${judged}">
      ${sentence(judgementWords[judged])}${because}.${wasReverted(attempt) ? ' The change was reverted.' : ''}
    </p>
    ${claim?.summary ? html`<p class="quiet">${isBuiltIn(attempt) ? claim.summary : `The agent said “${claim.status}”: ${claim.summary}`}</p>` : ''}
    ${showCut(attempt.cut)} ${showViolations(attempt.violations)} ${showNotes(attempt.notes)}
    ${showChange(attempt, patch, detail)}`;
}

function spent(attempt: ReportAttempt): string {
  const { inputTokens, outputTokens } = attempt;
  const tokens =
    inputTokens === null && outputTokens === null
      ? ''
      : `, ${inputTokens ?? 0} tokens in, ${outputTokens ?? 0} out`;
  return `${costText(attempt)}${tokens}`;
}

function showCut(cut: readonly Cut[]): Markup {
  if (cut.length === 0) return nothing;
  return html`<ul class="cut" aria-label="What was left out of the fix">
    ${firstItems(
      cut.map(({ file, why }) => html`<li><code>${file}</code> was left out: ${why}</li>`),
      20,
    )}
  </ul>`;
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

function showChange(attempt: ReportAttempt, patch: string | null, detail: Detail): Markup {
  const { files, patch: path, reverted } = attempt;
  if (files.length === 0) return nothing;
  const names = files.slice(0, 8).map(fileText).join(', ');
  const title = `${counted(files.length, 'file')} changed: ${names}${files.length > 8 ? ' …' : ''}`;
  if (patch === null || detail.diffLines === 0)
    return html`<p class="quiet">${title}${path === null ? '' : html` (<code>${path}</code>)`}</p>`;
  const diff = showDiff(patch, { maxLines: detail.diffLines });
  return reverted
    ? html`<details>
        <summary>${title}${wasReverted(attempt) ? ', reverted' : ', not applied'}</summary>
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
