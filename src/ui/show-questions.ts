import { choiceText } from '../core/escalation.js';
import { showOffers } from '../outputs/html/show-offers.js';
import type { ShownEscalation } from '../run/read-patch.js';
import { html, type Markup } from '../outputs/html/markup.js';
import { localDay } from '../outputs/format.js';

/** Renders each pending escalation as a form with its choices. */
export function showQuestions(escalations: readonly ShownEscalation[]): Markup {
  return html`${escalations.map(question)}`;
}

/** The number of lines of a patch in a form. */
const LINES = 120;

function question(asked: ShownEscalation): Markup {
  const { id, problem, tests, tried, recommendation, createdAt, choices, offers } = asked;
  const names = tests.length > 0 ? tests.map(({ name }) => name) : ['the suite itself'];
  return html`<article class="card question" id="question-${id}" aria-labelledby="${id}-heading">
    <h3 id="${id}-heading"><span class="id">${id}</span> ${problem}</h3>
    <p class="quiet">${names.slice(0, 3).join('; ')}, asked on ${localDay(createdAt)}</p>
    ${
      tried.length > 0
        ? html`<ol aria-label="Tried">
            ${tried.map((one) => html`<li>${one}</li>`)}
          </ol>`
        : ''
    }
    <p><strong>Recommended: </strong>${recommendation}</p>
    ${showOffers(offers, LINES)}
    <form novalidate data-question="${id}">
      <fieldset>
        <legend>What should be done?</legend>
        ${choices.map(
          (one) =>
            html`<p class="choice">
              <input type="radio" name="choice" value="${one}" id="${id}-${one}" />
              <label for="${id}-${one}">${choiceText[one]}</label>
            </p>`,
        )}
      </fieldset>
      <label for="${id}-guidance">What should the next agent know?</label>
      <textarea id="${id}-guidance" rows="3" aria-describedby="${id}-hint"></textarea>
      <p class="quiet" id="${id}-hint">
        This text goes into the next prompt unchanged. Do not enter passwords.
      </p>
      <p class="choice">
        <input type="checkbox" name="allow" value="tests" id="${id}-allow" />
        <label for="${id}-allow">With guidance: the agent may change the tests of this failure</label>
      </p>
      <p role="alert" class="problem"></p>
      <button type="submit">Answer</button>
    </form>
  </article>`;
}
