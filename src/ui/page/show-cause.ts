import type { Reason } from '../../core/diagnosis.js';
import { element } from './element.js';
import type { CauseView } from './run-view.js';
import { attemptPart } from './show-attempt.js';
import { showParts, type Part } from './show-parts.js';
import { counted, testName } from './words.js';

/** A cause and the URL of its screenshot, or null. */
export interface ShownCause {
  readonly cause: CauseView;
  readonly screenshot: string | null;
}

/** Shows each cause: what it is, what is done about it, and what came of it. */
export function showCauses(list: HTMLElement, causes: readonly ShownCause[]): void {
  showParts(
    list,
    causes.map(({ cause: { summary } }) => card(summary.id)),
  );
  causes.forEach((one, at) => {
    const shown = list.children[at];
    if (shown instanceof HTMLElement) fill(shown, one);
  });
}

/** The card stays, and its parts change. */
function card(id: string): Part {
  const attributes = { 'aria-labelledby': `${id}-heading`, class: 'card' };
  return { key: id, from: id, build: () => element('article', attributes) };
}

function fill(shown: HTMLElement, { cause, screenshot }: ShownCause): void {
  const attempts = element('ol', { class: 'attempts', 'aria-label': `Attempts at ${cause.summary.id}` });
  showParts(shown, [
    head(cause),
    activity(cause),
    ...cause.notes.map((note, n) => paragraph(`note-${n}`, note)),
    about(cause, screenshot),
    { key: 'attempts', from: null, build: () => attempts },
  ]);
  const last = shown.lastElementChild;
  if (last instanceof HTMLElement) showParts(last, [...cause.attempts.values()].map(attemptPart));
}

function head({ summary, verdict, reason }: CauseView): Part {
  const { id, category, headline, tests, parent } = summary;
  const [first] = tests;
  const more = tests.length > 1 ? ` and ${counted(tests.length - 1, 'more test')}` : '';
  return {
    key: 'head',
    from: [summary, verdict, reason],
    build: () =>
      element(
        'header',
        {},
        element(
          'p',
          { class: 'tags' },
          element('span', { class: 'tag' }, category),
          ' ',
          element('span', { class: `tag verdict ${verdict}` }, verdict),
        ),
        element('h3', { id: `${id}-heading` }, element('span', { class: 'id' }, id), ' ', headline),
        element('p', { class: 'quiet' }, first ? `${testName(first)}${more}` : 'The suite itself'),
        parent === null ? null : element('p', { class: 'quiet' }, `Came to light under ${parent}.`),
        reason === null ? null : element('p', { class: 'reason' }, reason),
      ),
  };
}

/** Changes up to ten times a second: it is no live region, or a screen reader would speak without an end. */
function activity({ activity: text, summary }: CauseView): Part {
  const attributes = { class: 'activity', 'aria-label': `What the agent for ${summary.id} does` };
  return {
    key: 'activity',
    from: text,
    build: () => (text === null ? element('p', { hidden: '' }) : element('p', attributes, text)),
  };
}

function paragraph(key: string, text: string): Part {
  return { key, from: text, build: () => element('p', { class: 'note' }, text) };
}

function about({ summary }: CauseView, screenshot: string | null): Part {
  const { id, why, tests, alternatives, confidence, category } = summary;
  const others = alternatives.length > 0 ? `; it may be ${alternatives.join(' or ')}` : '';
  return {
    key: 'about',
    from: [summary, screenshot],
    build: () =>
      element(
        'details',
        {},
        element('summary', {}, `Why ${category}, and what was seen`),
        element('p', {}, `${Math.round(confidence * 100)} % sure${others}.`),
        element(
          'ul',
          {},
          ...differing(why).map(({ source, evidence }) =>
            element('li', {}, `The ${source} says: `, element('code', {}, evidence)),
          ),
          ...(tests.length > 1 ? tests.map((test) => element('li', {}, testName(test))) : []),
        ),
        screenshot === null ? null : picture(screenshot, id),
      ),
  };
}

/** Two rules may have matched the same words. */
function differing(why: readonly Reason[]): Reason[] {
  const said = ({ source, evidence }: Reason) => `${source}: ${evidence}`;
  return [...new Map(why.map((reason) => [said(reason), reason])).values()];
}

function picture(url: string, id: string): HTMLElement {
  const image = element('img', { src: url, alt: `The page when the test of ${id} failed`, loading: 'lazy' });
  return element('a', { href: url, target: '_blank', rel: 'noopener' }, image);
}
