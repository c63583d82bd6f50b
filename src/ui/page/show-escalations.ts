import type { Choice, Escalation } from '../../core/escalation.js';
import { sendAnswer, type OpenQuestions } from './api.js';
import { element } from './element.js';
import { showParts, type Part } from './show-parts.js';

/** What happens once a question is answered. */
export type Answered = (escalation: Escalation) => void;

/** Shows each open question with its choices. A form that somebody is writing in stays as it is. */
export function showEscalations(list: HTMLElement, open: OpenQuestions, answered: Answered): void {
  const part = (escalation: Escalation): Part => ({
    key: escalation.id,
    from: escalation,
    build: () => question(escalation, open.choiceText, answered),
  });
  showParts(list, open.escalations.map(part));
}

function question(
  escalation: Escalation,
  choiceText: OpenQuestions['choiceText'],
  answered: Answered,
): HTMLElement {
  const { id, problem, tests, tried, recommendation, createdAt } = escalation;
  const heading = element('h3', { id: `${id}-heading` }, element('span', { class: 'id' }, id), ' ', problem);
  const names = tests.length > 0 ? tests.map(({ name }) => name) : ['the suite itself'];
  return element(
    'article',
    { class: 'card question', 'aria-labelledby': heading.id },
    heading,
    element('p', { class: 'quiet' }, `${names.slice(0, 3).join('; ')}, asked on ${createdAt.slice(0, 10)}`),
    tried.length > 0
      ? element('ol', { 'aria-label': 'Tried' }, ...tried.map((one) => element('li', {}, one)))
      : null,
    element('p', {}, element('strong', {}, 'Recommended: '), recommendation),
    form(escalation, choiceText, answered),
  );
}

function form(
  { id, choices }: Escalation,
  choiceText: OpenQuestions['choiceText'],
  answered: Answered,
): HTMLFormElement {
  const guidance = element('textarea', { id: `${id}-guidance`, rows: '3', 'aria-describedby': `${id}-hint` });
  const trouble = element('p', { role: 'alert', class: 'trouble' });
  const button = element('button', { type: 'submit' }, 'Answer');
  const made = element(
    'form',
    { novalidate: '' },
    element(
      'fieldset',
      {},
      element('legend', {}, 'What is to be done?'),
      ...choices.map((one) => radio(id, one, choiceText[one])),
    ),
    element('label', { for: guidance.id }, 'What the next agent is to know'),
    guidance,
    element(
      'p',
      { class: 'quiet', id: `${id}-hint` },
      'It goes into the next prompt as it is: write no passwords here.',
    ),
    trouble,
    button,
  );
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    const choice = new FormData(made).get('choice') as Choice | null;
    trouble.textContent = missing(choice, guidance.value);
    if (choice !== null && trouble.textContent === '') void send(choice);
  });
  const send = async (choice: Choice) => {
    button.disabled = true;
    const sent = await sendAnswer(id, { choice, guidance: guidance.value.trim() });
    button.disabled = false;
    if (sent.ok) answered(sent.value);
    else trouble.textContent = sent.error;
  };
  return made;
}

/** What is to be said before the answer can be sent; empty where nothing is. */
function missing(choice: Choice | null, guidance: string): string {
  if (choice === null) return 'Choose one of these first.';
  return choice === 'guide' && guidance.trim() === '' ? 'Write the guidance first.' : '';
}

function radio(id: string, choice: Choice, text: string): HTMLElement {
  const input = element('input', { type: 'radio', name: 'choice', value: choice, id: `${id}-${choice}` });
  return element('p', { class: 'choice' }, input, element('label', { for: input.id }, text));
}
