import type { ReportCause } from '../../run/report.js';
import type { OrderedCauses } from './order-causes.js';
import { html, nothing, type Markup } from './markup.js';

/** With fewer causes, a filter is not worth its room. */
const FEWEST = 2;

/** Shows buttons that filter causes: on a page without scripts, the style sheet does this depending on which button is checked. */
export function showFilter({ begun, fixed, left }: OrderedCauses): Markup {
  const causes = [...begun, ...fixed, ...left];
  if (causes.length < FEWEST) return nothing;
  const classes = [...new Set(causes.map(({ category }) => category))];
  return html`<div class="filters">
    ${
      fixed.length > 0 && left.length > 0
        ? group('Show', 'show', [
            { id: 'all', text: `all ${causes.length}` },
            { id: 'fixed', text: `fixed ${fixed.length}` },
            { id: 'left', text: `not fixed ${left.length}` },
          ])
        : ''
    }
    ${
      classes.length > 1
        ? group('Class', 'class', [
            { id: 'all', text: 'all' },
            ...classes.map((id) => ({ id, text: `${id} ${countOf(causes, id)}` })),
          ])
        : ''
    }
  </div>`;
}

function countOf(causes: readonly ReportCause[], category: string): number {
  return causes.filter((cause) => cause.category === category).length;
}

/** Shows radio buttons, with the first one checked. */
export function group(
  legend: string,
  name: string,
  choices: readonly { id: string; text: string }[],
): Markup {
  return html`<fieldset class="filter">
    <legend>${legend}</legend>
    ${choices.map(
      ({ id, text }, at) =>
        html`<label
          ><input type="radio" name="${name}" id="${name}-${id}" ${at === 0 ? 'checked' : ''} /><span
            >${text}</span
          ></label
        >`,
    )}
  </fieldset>`;
}
