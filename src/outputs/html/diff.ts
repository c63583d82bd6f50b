import { parsePatch, type StructuredPatch } from 'diff';
import { choiceText, offerLine } from '../../core/escalation.js';
import { visibleText } from '../../core/visible-text.js';
import type { ShownOffer } from '../../run/read-patch.js';
import { counted } from '../../format.js';
import { fileText } from '../wording.js';
import { html, type Markup, nothing } from './markup.js';

/** One line of a diff; a line number is null on the side that does not have the line. */
interface Line {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
}

/** The maximum length of a line, in characters: files that were built have lines of megabytes. */
const MOST_SHOWN = 2000;

/** Shows a patch of `git diff` as one table per file, without invisible characters (EV-10). */
export function showDiff(patch: string, maxLines: number): Markup {
  const visible = visibleText(patch);
  const files = parsed(visible);
  if (files.length === 0) return showRaw(visible, maxLines);
  const tables: Markup[] = [];
  let hidden = 0;
  let room = maxLines;
  for (const file of files) {
    const all = file.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
    const shown = Math.min(all, room);
    if (shown > 0 || all === 0) tables.push(showFile(file, shown));
    room -= shown;
    hidden += all - shown;
  }
  const more = hidden > 0 ? html`<p class="quiet">… and ${hidden} more lines; see the patch.</p>` : '';
  return html`${tables}${more}`;
}

/** Shows a text that is no longer a valid patch, because a secret that spans several lines was masked. */
function showRaw(patch: string, maxLines: number): Markup {
  const lines = patch.split('\n').slice(0, maxLines);
  const shown = lines.map((line) => line.slice(0, MOST_SHOWN)).join('\n');
  return html`<pre tabindex="0" role="group" aria-label="Changes"><code>${shown}</code></pre>`;
}

/** Parses a patch; if it was cut, parses it up to its last complete file. */
function parsed(patch: string): StructuredPatch[] {
  try {
    return parsePatch(patch);
  } catch {
    const last = patch.lastIndexOf('\ndiff --git ');
    return last < 0 ? [] : parsed(patch.slice(0, last + 1));
  }
}

function showFile(file: StructuredPatch, most: number): Markup {
  let room = most;
  const hunks = file.hunks.map((hunk) => {
    const lines = linesOf(hunk).slice(0, Math.max(0, room));
    room -= lines.length;
    return lines.length > 0
      ? html`<tbody>
          ${lines.map(showLine)}
        </tbody>`
      : '';
  });
  const name = nameOf(file);
  return html`<div class="diff" tabindex="0" role="group" aria-label="Changes of ${name}">
    <table>
      <caption>
        ${name}
      </caption>
      <thead class="unseen">
        <tr>
          <th>before</th>
          <th>after</th>
          <th>line</th>
        </tr>
      </thead>
      ${
        file.hunks.length === 0
          ? html`<tbody>
              <tr>
                <td colspan="3">no changed lines: only the name, the mode or binary content changed</td>
              </tr>
            </tbody>`
          : hunks
      }
    </table>
  </div>`;
}

function nameOf({ oldFileName = '', newFileName = '' }: StructuredPatch): string {
  // git quotes such characters in names, and the parser of the patch has put them back.
  const [before, after] = [oldFileName, newFileName].map((name) => visibleText(name).replace(/^[ab]\//, ''));
  if (after === '/dev/null') return `${before} (deleted)`;
  if (before === '/dev/null') return `${after} (new)`;
  return before === after ? `${after}` : `${before} → ${after}`;
}

function linesOf({ lines, oldStart, newStart }: StructuredPatch['hunks'][number]): Line[] {
  let [before, after] = [oldStart, newStart];
  return lines
    .filter((line) => !line.startsWith('\\'))
    .map((line): Line => {
      const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' ';
      const numbers = { before: sign === '+' ? null : before, after: sign === '-' ? null : after };
      if (sign !== '+') before += 1;
      if (sign !== '-') after += 1;
      return { sign, text: line.slice(1, MOST_SHOWN), ...numbers };
    });
}

const kinds = { '+': 'added', '-': 'removed', ' ': 'context' } as const;
const signs = { '+': '+', '-': '−', ' ': ' ' } as const;

function showLine({ sign, text, before, after }: Line): Markup {
  return html`<tr class="${kinds[sign]}">
    <td class="n">${before ?? ''}</td>
    <td class="n">${after ?? ''}</td>
    <td><span class="sign">${signs[sign]}</span><code>${text}</code></td>
  </tr>`;
}

/** Shows the patches that wait for a person side by side, each with its proof. */
export function showOffers(offers: readonly ShownOffer[], maxLines: number): Markup {
  if (offers.length === 0) return nothing;
  return html`<div class="offers">
    ${offers.map(
      (one) =>
        html`<section aria-label="${choiceText[one.side]}">
          <p><strong>${offerLine(one)}</strong></p>
          ${
            one.text === null || maxLines === 0
              ? html`<p class="quiet">
                  ${counted(one.files.length, 'file')} changed:
                  ${one.files.slice(0, 8).map(fileText).join(', ')}
                </p>`
              : showDiff(one.text, maxLines)
          }
        </section>`,
    )}
  </div>`;
}
