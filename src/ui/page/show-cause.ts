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

/** Shows each cause as a line that unfolds: what it is, what is done about it, and what came of it. Those that are worked on are unfolded. */
export function showCauses(list: HTMLElement, causes: readonly ShownCause[]): void {
  showParts(
    list,
    causes.map(({ cause: { summary } }) => card(summary.id)),
  );
  causes.forEach((one, at) => {
    const shown = list.children[at];
    if (shown instanceof HTMLDetailsElement) fill(shown, one);
  });
}

/** The card stays, and its parts change. */
function card(id: string): Part {
  const build = () =>
    element(
      'details',
      { class: 'cause' },
      element('summary'),
      element('article', { 'aria-labelledby': `${id}-heading` }),
    );
  return { key: id, from: id, build };
}

function fill(shown: HTMLDetailsElement, { cause, screenshot }: ShownCause): void {
  const { verdict, summary } = cause;
  if (shown.dataset['verdict'] !== verdict) {
    shown.dataset['verdict'] = verdict;
    shown.className = `cause ${stateOf(verdict)}`;
    shown.open = verdict === 'working';
  }
  const [line, article] = shown.children;
  if (!(line instanceof HTMLElement) || !(article instanceof HTMLElement)) return;
  showParts(line, lineOf(cause));
  const attempts = element('ol', { class: 'attempts', 'aria-label': `Attempts at ${summary.id}` });
  showParts(article, [
    head(cause),
    activity(cause),
    ...cause.notes.map((note, n) => paragraph(`note-${n}`, note)),
    about(cause, screenshot),
    { key: 'attempts', from: null, build: () => attempts },
  ]);
  const last = article.lastElementChild;
  if (last instanceof HTMLElement) showParts(last, [...cause.attempts.values()].map(attemptPart));
}

function stateOf(verdict: CauseView['verdict']): string {
  if (verdict === 'found' || verdict === 'working') return 'begun';
  return verdict === 'healed' || verdict === 'superseded' ? 'fixed' : 'left';
}

/** As a line of the report looks. */
function lineOf({ summary, verdict, reason }: CauseView): Part[] {
  const { id, category, headline, tests } = summary;
  const about = reason ?? counted(tests.length, 'test');
  const title = element('span', { class: 'title' }, headline);
  const quiet = element('span', { class: 'quiet' }, `${id} · ${category} · ${about}`);
  return [
    { key: 'line', from: [summary, reason], build: () => element('span', { class: 'line' }, title, quiet) },
    { key: 'tag', from: verdict, build: () => element('span', { class: `tag ${verdict}` }, verdict) },
  ];
}

function head({ summary, reason }: CauseView): Part {
  const { id, headline, tests, parent } = summary;
  const [first] = tests;
  const more = tests.length > 1 ? ` and ${counted(tests.length - 1, 'more test')}` : '';
  return {
    key: 'head',
    from: [summary, reason],
    build: () =>
      element(
        'header',
        {},
        element('h3', { id: `${id}-heading`, class: 'unseen' }, `${id} ${headline}`),
        element('p', { class: 'quiet' }, first ? `${testName(first)}${more}` : 'The suite itself'),
        parent === null ? null : element('p', { class: 'quiet' }, `Found after ${parent}.`),
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
