import { parsePatch, type StructuredPatch, type StructuredPatchHunk } from 'diff';
import { choiceText } from '../../model/choice.js';
import { describeOffer } from '../../model/escalation.js';
import { visibleText } from '../../visible-text.js';
import type { OfferWithText } from '../../run/read-patch.js';
import { counted } from '../../format.js';
import { formatFile } from '../wording.js';
import { html, type Markup, renderPreformatted } from './markup.js';

/** The maximum length of a line, in characters: built files can have lines of megabytes. */
const MAX_LINE_LENGTH = 2000;

/** Renders a patch of `git diff` as one table per file, without invisible characters (EV-10). */
export function renderDiff(patch: string, maxLines: number): Markup {
  const text = visibleText(patch);
  const files = parseCompleteFiles(text);
  // Masking a multi-line secret makes a patch invalid.
  const rawLines = text.split('\n', maxLines).map((line) => line.slice(0, MAX_LINE_LENGTH));
  if (files.length === 0) return renderPreformatted('Changes', rawLines.join('\n'));
  let room = maxLines;
  const tables = files.map((file) => {
    const hunks = file.hunks.map((hunk) => {
      const rows = renderRows(hunk).slice(0, Math.max(0, room));
      room -= hunk.lines.length;
      return (
        rows.length > 0 &&
        html`<tbody>
          ${rows}
        </tbody>`
      );
    });
    const name = formatFileLabel(file);
    const noChangedLines = html`<tbody>
      <tr>
        <td>no changed lines: only the name, the mode or binary content changed</td>
      </tr>
    </tbody>`;
    return (
      (hunks.length === 0 || hunks.some(Boolean)) &&
      html`<div class="wide diff" tabindex="0" role="group" aria-label="Changes to ${name}">
        <table>
          <caption>
            ${name}
          </caption>
          ${hunks.length === 0 ? noChangedLines : hunks}
        </table>
      </div>`
    );
  });
  return html`${tables}${room < 0 && html`<p class="quiet">… and ${-room} more lines; see the patch.</p>`}`;
}

/** Parses a patch; if it was truncated, parses it up to its last complete file. */
function parseCompleteFiles(patch: string): StructuredPatch[] {
  try {
    return parsePatch(patch);
  } catch {
    const lastFileStart = patch.lastIndexOf('\ndiff --git ');
    return lastFileStart < 0 ? [] : parseCompleteFiles(patch.slice(0, lastFileStart + 1));
  }
}

function formatFileLabel({ oldFileName = '', newFileName = '' }: StructuredPatch): string {
  // git escapes invisible characters in names, but the patch parser has restored them.
  const [before, after] = [oldFileName, newFileName].map((name) => visibleText(name).replace(/^[ab]\//, ''));
  if (after === '/dev/null') return `${before} (deleted)`;
  if (before === '/dev/null') return `${after} (new)`;
  return before === after ? `${after}` : `${before} → ${after}`;
}

const rowClasses: Record<string, string> = { '+': 'added', '-': 'removed' };

function renderRows({ lines, oldStart, newStart }: StructuredPatchHunk): Markup[] {
  let [before, after] = [oldStart, newStart];
  return lines
    .filter((line) => !line.startsWith('\\'))
    .map((line) => {
      const [sign = ' '] = line;
      const numbers = [sign === '+' ? '' : before++, sign === '-' ? '' : after++];
      return html`<tr class="${rowClasses[sign] ?? ''}">
        ${numbers.map((number) => html`<td class="n">${number}</td>`)}
        <td class="n">${sign}</td>
        <td><code>${line.slice(1, MAX_LINE_LENGTH)}</code></td>
      </tr>`;
    });
}

/** Renders the patches from which a person has to choose side by side, each with its proof. */
export function renderOffers(offers: readonly OfferWithText[], maxLines: number): Markup {
  return html`<div class="side-by-side">
    ${offers.map((offer) => {
      const { files, side, text } = offer;
      const names = files.slice(0, 8).map(formatFile).join(', ');
      return html`<section aria-label="${choiceText[side]}">
        <p><strong>${describeOffer(offer)}</strong></p>
        ${text === null ? html`<p class="quiet">${counted(files.length, 'file')} changed: ${names}</p>` : renderDiff(text, maxLines)}
      </section>`;
    })}
  </div>`;
}
