import morphdom from 'morphdom';
import type { StampedEvent } from '../../event.js';
import { duration } from '../../outputs/format.js';
import { phaseOf, showLiveCause, showNotes, showNow, showWorkers } from '../../outputs/html/show-live.js';
import { html, type Markup } from '../../outputs/html/markup.js';
import { reduce } from '../../run/reduce.js';
import { type CauseState, emptyRun, type RunState } from '../../run/run-state.js';
import type { Escalation } from '../../core/escalation.js';
import type { Screenshot } from '../screenshot.js';
import { fetchQuestions, fetchReport, fetchScreenshots } from './api.js';
import { listenForAnswers, showQuestions } from './show-questions.js';

let run: RunState | null = null;
let screenshots: readonly Screenshot[] = [];
let drawing = false;
/** The id of the run whose report is shown instead of its causes and notes. */
let reported: string | null = null;

/** Batches drawing: a page that is opened late receives thousands of events at once. */
function draw(): void {
  if (drawing) return;
  drawing = true;
  setTimeout(() => {
    drawing = false;
    if (run) show(run);
  }, 50);
}

function show(view: RunState): void {
  const { runId, project, causes } = view;
  const isReported = reported === runId;
  document.title = `${phaseOf(view)} · self-heal`;
  setText(byId('project'), project);
  setText(byId('run-id'), `run ${runId}`);
  byId('result').hidden = !isReported;
  byId('causes-section').hidden = isReported || causes.length === 0;
  byId('notes-section').hidden =
    isReported || view.flaky.length + view.quarantined.length + view.warnings.length === 0;
  byId('workers-section').hidden = isReported || view.workers.length === 0;
  fill(byId('now'), showNow(view));
  fill(byId('workers'), showWorkers(view));
  // The report contains elements with the same ids.
  const cards = isReported ? [] : causes.map((cause) => showLiveCause(cause, screenshotOf(cause)));
  fill(byId('causes'), html`${cards}`);
  fill(byId('notes'), showNotes(view));
  showTimes();
}

function screenshotOf({ summary }: CauseState): string | null {
  const testId = summary.tests[0]?.id ?? null;
  const found = screenshots.find((one) => one.signature === summary.signature && one.testId === testId);
  return found?.url ?? null;
}

function showTimes(): void {
  for (const shown of document.querySelectorAll<HTMLElement>('[data-since]')) {
    // Whole seconds, since tenths would flicker.
    const seconds = Math.floor((Date.now() - Number(shown.dataset['since'])) / 1000);
    setText(shown, duration(seconds * 1000).replace('.0s', 's'));
  }
}

let asking: Promise<void> | null = null;

/** One request at a time. Changes during a request are fetched by the next one. */
function refreshQuestions(): void {
  asking = (asking ?? Promise.resolve()).then(askForQuestions);
}

async function askForQuestions(): Promise<void> {
  const open = await fetchQuestions();
  const section = byId('questions-section');
  if (!open.ok) {
    section.hidden = false;
    setText(byId('answered'), open.error);
    return;
  }
  if (open.value.escalations.length > 0) section.hidden = false;
  fill(byId('questions'), showQuestions(open.value.escalations));
}

function onAnswered({ id, choice }: Escalation): void {
  const follows = choice === 'skip' ? 'its tests are quarantined' : 'the next run tries again';
  setText(byId('answered'), `${id} was answered: ${follows}.`);
  byId('questions-heading').focus();
  refreshQuestions();
}

function onEvent(event: StampedEvent): void {
  if (!run) return;
  run = reduce(run, event);
  if (/^agent\.(?:waiting_for_input|escalation_resolved)$/.test(event.type)) refreshQuestions();
  if (event.type === 'cause.found') void refreshScreenshots(run.runId);
  if (event.type === 'run.ended') void showReport(run.runId);
  draw();
}

let wanted = 0;

/** Causes are found in bursts, so only the last call of a burst sends a request. */
async function refreshScreenshots(of: string): Promise<void> {
  wanted += 1;
  const mine = wanted;
  await new Promise((resolve) => setTimeout(resolve, 300));
  if (mine !== wanted) return;
  const found = await fetchScreenshots(of);
  if (run?.runId !== of) return;
  screenshots = found;
  draw();
}

/** Shows a finished run as in its report.html. The markup comes from our own server, which escapes all texts, and none of its scripts would run. */
async function showReport(of: string): Promise<void> {
  const markup = await fetchReport(of);
  if (markup === null || run?.runId !== of) return;
  fill(byId('result'), markup);
  reported = of;
  draw();
}

function listen(): void {
  const events = new EventSource('/api/events');
  const connection = byId('connection');
  events.addEventListener('open', () => setText(connection, 'live'));
  events.addEventListener('error', () => {
    const gone = events.readyState === EventSource.CLOSED;
    setText(connection, gone ? 'disconnected: start self-heal ui again' : 'connection lost, trying again …');
  });
  events.addEventListener('none', () => {
    setText(byId('phase'), 'No run yet. A run appears here as soon as self-heal run starts.');
  });
  events.addEventListener('run', ({ data }: MessageEvent<string>) => {
    run = emptyRun(data);
    reported = null;
    screenshots = [];
    draw();
  });
  events.addEventListener('message', ({ data }: MessageEvent<string>) => {
    onEvent(JSON.parse(data) as StampedEvent);
  });
}

// The token is now in a cookie. It must not stay in the address bar, in the history or on a shared screen.
history.replaceState(null, '', '/');
setInterval(showTimes, 1000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) refreshQuestions();
});
listenForAnswers(byId('questions'), onAnswered);
refreshQuestions();
listen();

/** Returns the element with this id, which must exist. */
function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Sets an element's text if it differs, so that a live region announces only changes. */
function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * Updates the content of an element to match markup. All texts in it are escaped (`hono/html`), and no script in it runs. Unchanged elements
 * keep their focus and selection, open sections stay open, and forms are left as they are.
 */
function fill(target: HTMLElement, markup: Markup | string): void {
  const { body } = new DOMParser().parseFromString(String(markup), 'text/html');
  morphdom(target, body, {
    childrenOnly: true,
    onBeforeElUpdated: (from, to) => {
      if (from instanceof HTMLDetailsElement && to instanceof HTMLDetailsElement)
        if (from.dataset['state'] === to.dataset['state']) to.open = from.open;
      const counts = from.dataset['since'] !== undefined && from.dataset['since'] === to.dataset['since'];
      return !counts && !(from instanceof HTMLFormElement) && !from.isEqualNode(to);
    },
  });
}
