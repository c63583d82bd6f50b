import { type Choice, followsFrom } from '../../core/escalation.js';

/** Answers an escalation whenever any form in `list` is submitted, and calls `answered` with what follows. */
export function listenForAnswers(list: HTMLElement, answered: (text: string) => void): void {
  list.addEventListener('submit', (event) => {
    event.preventDefault();
    if (event.target instanceof HTMLFormElement) void send(event.target, answered);
  });
}

async function send(form: HTMLFormElement, answered: (text: string) => void): Promise<void> {
  const id = form.dataset['question'] ?? '';
  const given = new FormData(form);
  const choice = given.get('choice') as Choice | null;
  const allow = choice === 'guide' ? (given.get('allow') ?? undefined) : undefined;
  const guidance = form.querySelector('textarea')?.value.trim() ?? '';
  const alert = form.querySelector<HTMLElement>('[role=alert]');
  const button = form.querySelector('button');
  const say = (text: string) => {
    if (alert) alert.textContent = text;
  };
  if (choice === null) return say('Choose an answer first.');
  if (choice === 'guide' && guidance === '') return say('Write the guidance first.');
  if (button) button.disabled = true;
  const sent = await ask(`/api/escalations/${encodeURIComponent(id)}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ choice, guidance, allow }),
  });
  if (button) button.disabled = false;
  if (!sent.ok) return say(sent.text);
  return answered(`${id} was answered: ${followsFrom[choice]}.`);
}

/** Sends a request; the text is the response, or else what went wrong. */
export async function ask(url: string, init: RequestInit = {}): Promise<{ ok: boolean; text: string }> {
  try {
    const response = await fetch(url, init);
    return { ok: response.ok, text: await response.text() };
  } catch {
    return { ok: false, text: 'self-heal ui does not answer. Is it still running?' };
  }
}
