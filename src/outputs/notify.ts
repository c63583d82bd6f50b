import { reasonOf } from '../problem.js';
import type { Report } from '../run/report.js';
import { counted } from '../format.js';
import { nextSteps, viewOf } from './view.js';

/** A chat service that does not answer may not hold up the end of a run for longer. */
const PATIENCE_MS = 10_000;

/** Tells a webhook that a run needs a person (RP-6); returns why it could not be told, or null. The report holds no secrets any more. */
export async function notify(report: Report, url: string): Promise<string | null> {
  try {
    const { ok, status } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(notification(report)),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return ok ? null : `the webhook of notify.url answered ${status}`;
  } catch (error) {
    return `the webhook of notify.url was not reached: ${reasonOf(error)}`;
  }
}

function notification(report: Report) {
  const { runId, project, outcome, exitCode, commit, escalations } = report;
  const view = viewOf(report);
  const causes = view.causes.map(({ cause, about, next }) => ({
    id: cause.id,
    class: cause.category,
    verdict: cause.verdict,
    headline: cause.headline,
    tests: about,
    next,
  }));
  const lines = escalations.map(({ causeId, question }) => `${causeId}: ${question}`);
  const text = [
    `self-heal: ${project} needs review (${counted(escalations.length, 'question')})`,
    ...lines,
  ].join('\n');
  const steps = nextSteps(view).map(({ command }) => command);
  return { schemaVersion: 1, text, runId, project, outcome, exitCode, commit, causes, next: steps };
}
