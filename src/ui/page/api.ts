import type { Choice, Escalation } from '../../core/escalation.js';
import type { Result } from '../../result.js';
import type { Screenshot } from '../screenshot.js';

/** Fetches the pending escalations; the error is a text to show. */
export async function fetchQuestions(): Promise<
  Result<{ readonly escalations: readonly Escalation[] }, string>
> {
  return ask('/api/escalations');
}

/** Fetches the list of screenshots of a run's failures; empty on errors. */
export async function fetchScreenshots(runId: string): Promise<readonly Screenshot[]> {
  const answer = await ask<{ screenshots: Screenshot[] }>(`/api/runs/${runId}/screenshots`);
  return answer.ok ? answer.value.screenshots : [];
}

/** Fetches the result of a finished run as HTML from our own server; null if it has no report. */
export async function fetchReport(runId: string): Promise<string | null> {
  try {
    const response = await fetch(`/api/runs/${runId}/report`);
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}

/** Answers an escalation. */
export async function sendAnswer(
  id: string,
  answer: { choice: Choice; guidance: string },
): Promise<Result<Escalation, string>> {
  return ask<Escalation>(`/api/escalations/${encodeURIComponent(id)}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(answer),
  });
}

async function ask<T>(url: string, init: RequestInit = {}): Promise<Result<T, string>> {
  try {
    const response = await fetch(url, init);
    if (response.ok) return { ok: true, value: (await response.json()) as T };
    const text = await response.text();
    return { ok: false, error: said(text) };
  } catch {
    return { ok: false, error: 'self-heal ui does not answer. Is it still running?' };
  }
}

function said(text: string): string {
  try {
    const { message, remedy } = JSON.parse(text) as { message: string; remedy: string };
    return `${message}. ${remedy}`;
  } catch {
    return text;
  }
}
