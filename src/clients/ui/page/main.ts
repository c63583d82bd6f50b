import { type Choice, consequences } from '../../../model/choice.js';
import morphdom from 'morphdom';
import { duration } from '../../../format.js';

/** Follows the run: the server draws it and sends each part that changed, under the id of the element that it fills. */
function followRun(): void {
  const events = new EventSource('/api/events');
  const connection = byId('connection');
  events.addEventListener('open', () => setText(connection, 'connected'));
  events.addEventListener('error', () => {
    const isClosed = events.readyState === EventSource.CLOSED;
    setText(
      connection,
      isClosed ? 'disconnected: start self-heal ui again' : 'connection lost, trying again …',
    );
  });
  events.addEventListener('message', ({ data }: MessageEvent<string>) => {
    for (const [id, markup] of Object.entries(JSON.parse(data) as Record<string, string>))
      updateContent(byId(id), markup);
    document.title = `${byId('phase').textContent.trim()} · self-heal`;
    showTimes();
  });
  events.addEventListener('questions', refreshQuestions);
}

function showTimes(): void {
  for (const clock of document.querySelectorAll<HTMLElement>('[data-since]')) {
    // Whole seconds, since tenths would flicker.
    const seconds = Math.floor((Date.now() - Number(clock.dataset['since'])) / 1000);
    setText(clock, duration(seconds * 1000));
  }
}

let lastRefresh = Promise.resolve();

/** Makes one request at a time; changes during a request are fetched by the next one. */
function refreshQuestions(): void {
  lastRefresh = lastRefresh.then(showQuestions);
}

async function showQuestions(): Promise<void> {
  const response = await sendRequest('/api/escalations');
  if (response.ok) updateContent(byId('questions'), response.text);
  else setText(byId('answered'), response.text);
  if (!response.ok || response.text !== '') byId('questions-section').hidden = false;
}

// The token is now in a cookie. It must not stay in the address bar, in the history or on a shared screen.
history.replaceState(null, '', '/');
setInterval(showTimes, 1000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) refreshQuestions();
});
byId('questions').addEventListener('submit', (event) => {
  event.preventDefault();
  if (event.target instanceof HTMLFormElement) void sendAnswer(event.target);
});
refreshQuestions();
followRun();

function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/** Sets an element's text if it differs, so that a live region announces only changes. */
function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * Updates the content of an element to match markup. The markup comes from our own server, which escapes all texts, and no script in it runs.
 * Unchanged elements keep their focus and selection, open sections stay open, and forms and filters are left as they are.
 */
function updateContent(target: HTMLElement, markup: string): void {
  const { body } = new DOMParser().parseFromString(markup, 'text/html');
  const focused = document.activeElement;
  morphdom(target, body, {
    childrenOnly: true,
    getNodeKey,
    onBeforeElUpdated: (from, to) => {
      if (from instanceof HTMLDetailsElement && to instanceof HTMLDetailsElement) to.open = from.open;
      const isSameTimer =
        from.dataset['since'] !== undefined && from.dataset['since'] === to.dataset['since'];
      return !isSameTimer && !(from instanceof HTMLFormElement) && !from.isEqualNode(to);
    },
  });
  // An element that makes room for a new one is moved, which takes its focus away.
  if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
}

/** Recognizes a section by its title, so that it stays open when another one appears before it. */
function getNodeKey(node: Node): string {
  if (!(node instanceof HTMLElement)) return '';
  if (node.id !== '' || !(node instanceof HTMLDetailsElement)) return node.id;
  const parent = node.parentElement?.closest('[id]')?.id ?? '';
  return `${parent} ${node.querySelector('summary')?.textContent.trim() ?? ''}`;
}

async function sendAnswer(form: HTMLFormElement): Promise<void> {
  const id = form.dataset['question'] ?? '';
  const fields = new FormData(form);
  const choice = fields.get('choice') as Choice | null;
  const allow = choice === 'guide' ? (fields.get('allow') ?? undefined) : undefined;
  const guidance = form.querySelector('textarea')?.value.trim() ?? '';
  const alert = form.querySelector<HTMLElement>('[role=alert]');
  const button = form.querySelector('button');
  const showAlert = (text: string) => {
    if (alert) alert.textContent = text;
  };
  if (choice === null) return showAlert('Choose an answer first.');
  if (choice === 'guide' && guidance === '') return showAlert('Write the guidance first.');
  if (button) button.disabled = true;
  const sent = await sendRequest(`/api/escalations/${encodeURIComponent(id)}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ choice, guidance, allow }),
  });
  if (button) button.disabled = false;
  if (!sent.ok) return showAlert(sent.text);
  setText(byId('answered'), `${id} was answered: ${consequences[choice]}.`);
  byId('questions-heading').focus();
  return refreshQuestions();
}

/** Sends a request; the text is the response or an error message. */
async function sendRequest(url: string, init: RequestInit = {}): Promise<{ ok: boolean; text: string }> {
  try {
    const response = await fetch(url, init);
    return { ok: response.ok, text: await response.text() };
  } catch {
    return { ok: false, text: 'self-heal ui does not answer. Is it still running?' };
  }
}
