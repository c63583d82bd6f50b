import { choiceText, offerLine } from '../../core/escalation.js';
import type { ShownOffer } from '../../run/read-patch.js';
import { counted, fileText } from '../format.js';
import { html, type Markup, nothing } from './markup.js';
import { showDiff } from './diff.js';

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
              : showDiff(one.text, { maxLines })
          }
        </section>`,
    )}
  </div>`;
}
