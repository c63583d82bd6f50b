import type { DiagnosedFailure } from '../model/cause.js';
import { within } from './own-frame.js';
import { complaintOf, lookAlikeIn, tellingErrors, type Complaint } from './complaint.js';
import { asPrinted, type Reason, withoutColumn } from '../model/diagnosis.js';
import { type TestError, phaseInWords } from '../model/failure.js';
import type { Evidence, NetworkEntry } from '../model/evidence.js';
import { splitUrl } from '../urls.js';
import { askedRequests, wrongIn } from './asserted.js';
import { endpointOf, requestLine, responseTexts } from './requests.js';
import { redirectOf } from './auth-redirects.js';

const longest = 240;
const longestPart = 150;

/**
 * Describes a failure in one line (at most 240 characters) that distinguishes it from others: the deciding evidence and its position, or the
 * redirect that replaced the page, then the symptom with locator, expected and received value, and the line of the test.
 */
export function headlineOf(failed: DiagnosedFailure): string {
  const symptom = symptomOf(failed);
  const root = rootOf(failed);
  const line = [root ?? redirectIn(failed) ?? answerIn(failed), symptom]
    .filter((part) => part !== null)
    .join(' — ');
  const at = phaseLine(failed) ?? (root === null ? failingLine(failed) : null);
  const position = at !== null && !line.includes(at) ? [at] : [];
  const around = [...position, ...neededIn(failed)].join(', ');
  return `${clip(line, longest - around.length - 3)}${around === '' ? '' : ` (${around})`}`;
}

/** Names the test without which a failure is green, or says how many there are. */
function neededIn({ needs = [], neededTests = [] }: DiagnosedFailure): string[] {
  const [first] = neededTests;
  if (needs.length === 0) return [];
  return [
    first && needs.length === 1
      ? `only after ${clip(first.name, 80)}`
      : `only after ${needs.length} other tests`,
  ];
}

/** Describes the symptom in one line. */
function symptomOf({ evidence, failure }: DiagnosedFailure): string {
  const phase = failure.scope === 'suite' ? failure.phase : undefined;
  const known = phase && phaseInWords(phase, evidence.errors[0]?.message ?? '');
  if (known) return known;
  const complaint = complaintOf(evidence.errors);
  const [error] = tellingErrors(evidence.errors);
  const first = error?.message.split('\n').find((line) => line.trim() !== '');
  return inWords(complaint) ?? first?.trim() ?? 'the suite failed without a message';
}

function inWords({ kind, call, subject, detail }: Complaint): string | null {
  const by = call === null ? '' : ` (${call})`;
  if (kind === 'value' && detail !== null)
    return `${call ?? 'expect'}${subject === null ? '' : ` on ${subject}`}: ${detail}`;
  if (kind === 'no-answer') {
    const how = call?.endsWith('waitForFunction') ? 'did not become true' : 'got no answer';
    return `${call}${subject === null ? '' : `(${subject})`} ${how} in time`;
  }
  if (subject === null) return null;
  if (kind === 'missing') return `${subject} not found${by}`;
  if (kind === 'covered') return `${subject} is covered by ${detail}${by}`;
  if (kind === 'ambiguous') return `${subject} matches ${detail}${by}`;
  if (kind === 'state') return `${subject} is ${detail}${by}`;
  return kind === 'timeout' ? `${call ?? 'waiting'} on ${subject} timed out` : null;
}

/** Returns the deciding evidence with its position in the user's code; null if it is the test's own error. */
function rootOf({
  diagnosis: { category, why, facts },
  evidence: { errors, network },
}: DiagnosedFailure): string | null {
  const [reason] = why;
  if (!reason || category === 'ui-error' || !isDeeper(reason, errors)) return null;
  const evidence = clipSentence(
    withAnswer(saidIn(reason.evidence).replace(resourceType, ''), reason, network),
  );
  const at = facts.source !== null && !evidence.includes(facts.source) ? ` at ${facts.source}` : '';
  return `${evidence}${at}`;
}

/** Returns the answer that a failed assertion is about, with the part that is wrong: `GET /api/alerts?status=pending → "status":"dismissed"`. */
function answerIn({ diagnosis, evidence, failure }: DiagnosedFailure): string | null {
  if (failure.scope === 'suite' || isDecidedElsewhere(diagnosis)) return null;
  // The difference says more than the answer.
  if (evidence.errors.some(({ message }) => lookAlikeIn(message) !== null)) return null;
  const entry = askedRequests(evidence, diagnosis.why).at(-1);
  if (entry && isPastRoute(entry, evidence))
    return `${endpointOf(entry)} was answered by a service worker, past the test's route`;
  const wrong = entry && entry.resourceType !== 'document' ? wrongIn(entry, evidence.errors) : null;
  return entry && wrong !== null ? `${endpointOf(entry).replace(/ → \S+$/, '')} → ${wrong}` : null;
}

/** Whether a service worker answered a request for which the test has a route, which does not see what service workers send. */
function isPastRoute({ url }: NetworkEntry, { network, steps = [] }: Evidence): boolean {
  const path = (splitUrl(url)?.path ?? url).replace(/\?.*$/, '');
  const isRouted = steps.some(({ title }) => title.startsWith('Route requests ') && title.includes(path));
  return isRouted && path.length > 1 && network.some((entry) => entry.isOfServiceWorker && entry.url === url);
}

/** Whether something other than the test's own assertion decided. */
function isDecidedElsewhere({ why: [reason] }: DiagnosedFailure['diagnosis']): boolean {
  return reason !== undefined && reason.source !== 'error' && reason.source !== 'stack';
}

/** Whether a reason is behind the test's own error: in another channel, or in the cause that the error wraps. */
function isDeeper({ source, evidence }: Reason, errors: readonly TestError[]): boolean {
  if (source !== 'error' && source !== 'stack') return true;
  const text = asPrinted(evidence);
  return (
    errors.every(({ message }) => !message.includes(text)) &&
    errors.some(({ causes }) => causes.some((cause) => cause.includes(text)))
  );
}

/** Adds what the answer to a request says, if only the request decided. */
function withAnswer(text: string, { source, evidence }: Reason, network: readonly NetworkEntry[]): string {
  const entry =
    source === 'network'
      ? network.findLast((one) => requestLine(one).includes(asPrinted(evidence)))
      : undefined;
  const said = entry && responseTexts(entry).find((sentence) => !/^<|Internal Server Error/.test(sentence));
  return said === undefined ? text : `${text} ${said.replaceAll(/\s+/g, ' ')}`;
}

/** What a request was for, which its method and address say as well. */
const resourceType = /^[a-z]{2,20} (?=[A-Z]{3,7} \S+ →)/;

/** Cuts a text at the end of a sentence if there is one, rather than within it. */
function clipSentence(text: string): string {
  if (text.length <= longestPart) return text;
  const end = text.slice(0, longestPart).search(/[.!?](?= [A-Z][^.!?]*$)/);
  return end > longestPart / 3 ? text.slice(0, end + 1) : clip(text, longestPart);
}

/** Dates and times, how long something took, what marks a cause, an item of a page's snapshot, or the beginning of an object. */
const around: readonly RegExp[] = [
  /\b(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}\/\d{1,2}\/\d{4}),?[T ]{1,3}/g,
  /\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?[AP]M)?Z? ?/g,
  /,? in \d{1,9}(?:\.\d{1,9})? ?(?:ms|s|seconds?)\b/g,
  /^(?:\s*\[?(?:cause|Caused by)\]?: )+/,
  /^\s*(?:\|?- )(?:\w{1,20}: )?(?=\w{0,40}Error\b)/,
  // Node prints an error in brackets, and a line may have only the first bracket.
  /^\[(?=[^\]]*$)/,
  /\s*\{\s*$/,
];
const messageInJson = /"(?:message|msg|error|err|detail)": ?"((?:[^"\\]|\\.){3,300})"/;

/** Returns what a line of a log says, without what its logger adds. */
function saidIn(line: string): string {
  const json = /^\s*[[{]/.test(line) ? messageInJson.exec(line)?.[1] : undefined;
  if (json !== undefined) return json.replaceAll('\\"', '"');
  const stripped = around.reduce((text, pattern) => text.replace(pattern, ''), line);
  return stripped.replaceAll(/ {2,}/g, ' ').trim() || line;
}

/** Describes how the page that the test asked for was replaced by another one, such as that for signing in; null if it was not. */
function redirectIn({ diagnosis: { category }, evidence }: DiagnosedFailure): string | null {
  const asked = category === 'ui-error' ? redirectOf(evidence) : null;
  if (asked === null) return null;
  const given = splitUrl(evidence.pageUrl ?? '')?.path.replace(/\?.*$/, '');
  return `${endpointOf(asked)} to ${given ?? evidence.pageUrl}`;
}

/** Returns the line of the config that says what Playwright was doing for the suite. */
function phaseLine({ failure, evidence }: DiagnosedFailure): string | null {
  return lineIn(evidence, failure.scope === 'suite' ? failure.phase?.at : null);
}

/** Returns the failing line of the user's code: that of the exception, or else that of the test. */
function failingLine({ evidence, diagnosis }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'ui-error' && diagnosis.facts.source !== null)
    return withoutColumn(diagnosis.facts.source);
  const { errors } = evidence;
  return lineIn(
    evidence,
    [...tellingErrors(errors).slice(0, 1), ...errors].find(({ location }) => location)?.location,
  );
}

function lineIn(evidence: Evidence, at: { file: string; line: number } | null | undefined): string | null {
  const file = at?.file.replaceAll('\\', '/');
  return at && file !== undefined ? `${within(file, evidence) ?? file}:${at.line}` : null;
}

function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
