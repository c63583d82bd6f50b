import type { StampedEvent } from '../../event.js';
import type { Screenshot } from '../screenshot.js';
import { fetchQuestions, fetchReport, fetchScreenshots } from './api.js';
import { byId, element, setText } from './element.js';
import { addEvent, emptyRun, type CauseView, type RunView } from './run-view.js';
import { showCauses } from './show-cause.js';
import { showEscalations } from './show-escalations.js';
import { showNow } from './show-now.js';
import { showParts } from './show-parts.js';
import { duration } from './words.js';

let run: RunView | null = null;
let screenshots: readonly Screenshot[] = [];
let drawing = false;
/** The run whose report is shown in place of its causes and notes. */
let reported: RunView | null = null;

/** Thousands of events at once, as a page gets them that is opened late, are one drawing. */
function draw(): void {
  if (drawing) return;
  drawing = true;
  setTimeout(() => {
    drawing = false;
    if (run) show(run);
  }, 50);
}

function show(view: RunView): void {
  showNow(view);
  const causes = [...view.causes.values()].map((cause) => ({ cause, screenshot: screenshotOf(cause) }));
  const isReported = reported === view;
  byId('result').hidden = !isReported;
  byId('causes-section').hidden = isReported || causes.length === 0;
  // The report has elements of the same ids.
  showCauses(byId('causes'), isReported ? [] : causes);
  byId('notes-section').hidden = isReported || view.notes.length === 0;
  showParts(
    byId('notes'),
    view.notes.map((note, n) => ({ key: String(n), from: note, build: () => element('li', {}, note) })),
  );
  showTimes();
}

function screenshotOf({ summary }: CauseView): string | null {
  const testId = summary.tests[0]?.id ?? null;
  const found = screenshots.find((one) => one.signature === summary.signature && one.testId === testId);
  return found?.url ?? null;
}

function showTimes(): void {
  for (const shown of document.querySelectorAll<HTMLElement>('[data-since]')) {
    // Whole seconds: tenths would flicker.
    const seconds = Math.floor((Date.now() - Number(shown.dataset['since'])) / 1000);
    setText(shown, duration(seconds * 1000).replace('.0s', 's'));
  }
}

let asking: Promise<void> | null = null;

/** One request at a time; what happens during one is asked for by the next. */
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
  showEscalations(byId('questions'), open.value, ({ id, choice }) => {
    const follows = choice === 'skip' ? 'its tests are in quarantine' : 'the next run tries again';
    setText(byId('answered'), `${id} is answered: ${follows}.`);
    byId('questions-heading').focus();
    refreshQuestions();
  });
}

function onEvent(event: StampedEvent): void {
  if (!run) return;
  addEvent(run, event);
  if (/^agent\.(?:waiting_for_input|escalation_resolved)$/.test(event.type)) refreshQuestions();
  if (event.type === 'cause.found') void refreshScreenshots(run);
  if (event.type === 'run.ended') void showReport(run);
  draw();
}

let wanted = 0;

/** Causes are found in bursts: the last asks for all. */
async function refreshScreenshots(of: RunView): Promise<void> {
  wanted += 1;
  const mine = wanted;
  await new Promise((resolve) => setTimeout(resolve, 300));
  if (mine !== wanted) return;
  const found = await fetchScreenshots(of.runId);
  if (run !== of) return;
  screenshots = found;
  draw();
}

/** A run that is over is shown as in its report.html. The markup is our own server's, which escapes every text; no script of it would run. */
async function showReport(of: RunView): Promise<void> {
  const markup = await fetchReport(of.runId);
  if (markup === null || run !== of) return;
  const { body } = new DOMParser().parseFromString(markup, 'text/html');
  byId('result').replaceChildren(...body.childNodes);
  reported = of;
  draw();
}

function listen(): void {
  const events = new EventSource('/api/events');
  const connection = byId('connection');
  events.addEventListener('open', () => setText(connection, 'live'));
  events.addEventListener('error', () => {
    const gone = events.readyState === EventSource.CLOSED;
    setText(connection, gone ? 'ended: start self-heal ui again' : 'connection lost, trying again …');
  });
  events.addEventListener('none', () => {
    setText(byId('phase'), 'No run yet: it is shown here when self-heal run begins.');
  });
  events.addEventListener('run', ({ data }: MessageEvent<string>) => {
    run = emptyRun(data);
    screenshots = [];
    draw();
  });
  events.addEventListener('message', ({ data }: MessageEvent<string>) => {
    onEvent(JSON.parse(data) as StampedEvent);
  });
}

// The token has become a cookie, and is not to stay in the address bar, in the history or on a shared screen.
history.replaceState(null, '', '/');
setInterval(showTimes, 1000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) refreshQuestions();
});
refreshQuestions();
listen();
