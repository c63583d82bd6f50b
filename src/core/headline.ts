import type { DiagnosedFailure } from './cause.js';
import { complaintOf, tellingErrors, type Complaint } from './complaint.js';
import { withoutColumn } from './diagnosis.js';

const longest = 240;
const longestPart = 150;

/**
 * One line that tells a failure from others (at most 240 characters): what decided and where, then what the test complains of,
 * with locator, expected and received value, and the test's own line.
 */
export function headlineOf(failed: DiagnosedFailure): string {
  const symptom = symptomOf(failed);
  const root = rootOf(failed);
  const line = root === null ? symptom : `${root} — ${symptom}`;
  const place = root === null ? placeOf(failed) : null;
  const room = longest - (place?.length ?? 0) - 3;
  return `${clip(line, room)}${place !== null && !line.includes(place) ? ` (${place})` : ''}`;
}

/** What the test complains of, in one line. */
function symptomOf({ evidence }: DiagnosedFailure): string {
  const complaint = complaintOf(evidence.errors);
  const [error] = tellingErrors(evidence.errors);
  const first = error?.message.split('\n').find((line) => line.trim() !== '');
  return inWords(complaint) ?? first?.trim() ?? 'the suite failed without a message';
}

function inWords({ kind, call, subject, detail }: Complaint): string | null {
  const by = call === null ? '' : ` (${call})`;
  if (kind === 'value' && detail !== null)
    return `${call ?? 'expect'}${subject === null ? '' : ` on ${subject}`}: ${detail}`;
  if (kind === 'no-answer') return `${call}${subject === null ? '' : `(${subject})`} got no answer in time`;
  if (subject === null) return null;
  if (kind === 'missing') return `${subject} not found${by}`;
  if (kind === 'covered') return `${subject} is covered by ${detail}${by}`;
  if (kind === 'ambiguous') return `${subject} matches ${detail}${by}`;
  if (kind === 'state') return `${subject} is ${detail}${by}`;
  return kind === 'timeout' ? `${call ?? 'waiting'} on ${subject} timed out` : null;
}

/** What decided, where that was not the test's own error, with the place in the user's code. */
function rootOf({ diagnosis: { category, why, facts } }: DiagnosedFailure): string | null {
  const [reason] = why;
  if (!reason || reason.source === 'error' || reason.source === 'stack' || category === 'ui-error')
    return null;
  const at = facts.source !== null && !reason.evidence.includes(facts.source) ? ` at ${facts.source}` : '';
  return `${clip(reason.evidence, longestPart)}${at}`;
}

/** The line of the user's code that failed: that of the exception, else that of the test. */
function placeOf({ evidence, diagnosis }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'ui-error' && diagnosis.facts.source !== null)
    return withoutColumn(diagnosis.facts.source);
  const at =
    tellingErrors(evidence.errors)[0]?.location ?? evidence.errors.find((one) => one.location)?.location;
  if (!at) return null;
  const file = at.file.replaceAll('\\', '/');
  const root = `${evidence.rootDir.replaceAll('\\', '/').replace(/\/$/, '')}/`;
  return `${file.startsWith(root) ? file.slice(root.length) : file}:${at.line}`;
}

function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
