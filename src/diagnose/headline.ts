import { clip } from '../format.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { relativeToProject } from './own-frame.js';
import { parseComplaint, findLookAlike, orderErrors, type Complaint } from './complaint.js';
import { removeEllipsis, type Reason, removeColumn } from '../model/diagnosis.js';
import { type TestError, describePhase } from '../model/failure.js';
import type { Evidence, NetworkEntry } from '../model/evidence.js';
import { getPath } from '../urls.js';
import { chooseRelevantRequests, describeWrongResponse } from './relevant-requests.js';
import { formatEndpoint, formatRequest, listResponseTexts } from './requests.js';
import { findLostCookie, findRedirect } from './auth-redirects.js';

const MAX_CHARACTERS = 240;
const MAX_PART = 150;

/**
 * Describes a failure in one distinctive line (at most 240 characters): the deciding evidence with its position, or the redirect that replaced the
 * page, then the symptom with locator, expected and received value, and the line of the test.
 */
export function describeFailure(failed: DiagnosedFailure): string {
  const symptom = describeSymptom(failed);
  const root = describeRootCause(failed);
  const line = [
    root ?? describeSilentCause(failed) ?? describeRedirect(failed) ?? describeResponse(failed),
    symptom,
  ]
    .filter((part) => part !== null)
    .join(' — ');
  const at = findPhaseLine(failed) ?? (root === null ? findFailingLine(failed) : null);
  const position = at !== null && !line.includes(at) ? [at] : [];
  const details = [...position, ...describeNeededTests(failed)].join(', ');
  return `${clip(line, MAX_CHARACTERS - details.length - 3)}${details === '' ? '' : ` (${details})`}`;
}

/** Names the test that must run first for the failure to occur, or counts several. */
function describeNeededTests({ needs = [], neededTests = [] }: DiagnosedFailure): string[] {
  const [first] = neededTests;
  if (needs.length === 0) return [];
  return [
    first && needs.length === 1
      ? `only after ${clip(first.name, 80)}`
      : `only after ${needs.length} other tests`,
  ];
}

/** Describes the symptom in one line. */
function describeSymptom({ evidence, failure }: DiagnosedFailure): string {
  const phase = failure.scope === 'suite' ? failure.phase : undefined;
  const failedPhase = phase && describePhase(phase, evidence.errors[0]?.message ?? '');
  if (failedPhase) return failedPhase;
  const complaint = parseComplaint(evidence.errors);
  const [error] = orderErrors(evidence.errors);
  const first = error?.message.split('\n').find((line) => line.trim() !== '');
  return describeComplaint(complaint) ?? first?.trim() ?? 'the suite failed without a message';
}

function describeComplaint({ kind, call, subject, detail }: Complaint): string | null {
  const callNote = call === null ? '' : ` (${call})`;
  if (kind === 'value' && detail !== null)
    return `${call ?? 'expect'}${subject === null ? '' : ` on ${subject}`}: ${detail}`;
  if (kind === 'no-answer') {
    const outcome = call?.endsWith('waitForFunction') ? 'did not become true' : 'got no answer';
    return `${call}${subject === null ? '' : `(${subject})`} ${outcome} in time`;
  }
  if (subject === null) return null;
  if (kind === 'missing') return `${subject} not found${callNote}`;
  if (kind === 'covered') return `${subject} is covered by ${detail}${callNote}`;
  if (kind === 'ambiguous') return `${subject} matches ${detail}${callNote}`;
  if (kind === 'state') return `${subject} is ${detail}${callNote}`;
  return kind === 'timeout' ? `${call ?? 'waiting'} on ${subject} timed out` : null;
}

/** Returns the deciding evidence with its position in the user's code; null if it is the test's own error. */
function describeRootCause({
  diagnosis: { category, why, facts },
  evidence: { errors, network },
}: DiagnosedFailure): string | null {
  const [reason] = why;
  if (!reason || category === 'ui-error' || !isDeeper(reason, errors)) return null;
  const evidence = clipSentence(
    addMessage(stripLoggerParts(reason.evidence).replace(resourceType, ''), reason, network),
  );
  const at = facts.source !== null && !evidence.includes(facts.source) ? ` at ${facts.source}` : '';
  return `${evidence}${at}`;
}

/** Describes a cause that no channel reports as an error: a dialog that the test did not handle, a cookie that was not kept, a request that never ends. */
function describeSilentCause({ diagnosis, evidence }: DiagnosedFailure): string | null {
  if (isDecidedOutsideTest(diagnosis)) return null;
  const { console, network, errors } = evidence;
  const dialog = console.findLast(
    ({ type, text, common }) => type === 'dialog' && !common && unhandledDialog.test(text),
  );
  if (dialog) return dialog.text.replaceAll(/\s+/g, ' ');
  const lostCookie = findLostCookie(evidence);
  if (lostCookie)
    return `${formatRequestLine(lostCookie.settingRequest)} set the cookie ${lostCookie.name} (${lostCookie.attributes}), which ${formatRequestLine(lostCookie.deniedRequest)} did not send`;
  const waitsForSilence = errors.some(({ message }) => message.includes('waiting until "networkidle"'));
  const open = waitsForSilence ? network.findLast(({ isOpen }) => isOpen) : undefined;
  return open ? `${formatEndpoint(open)}, its body still open` : null;
}

const unhandledDialog = /^(?:confirm|prompt) .*, dismissed by Playwright/s;

/** Formats a request without its response. */
function formatRequestLine(entry: NetworkEntry): string {
  return formatEndpoint(entry).replace(/ → .*$/, '');
}

/** Describes the response that a failed assertion checked, with its wrong part: `GET /api/alerts?status=pending → "status":"dismissed"`. */
function describeResponse({ diagnosis, evidence, failure }: DiagnosedFailure): string | null {
  if (failure.scope === 'suite' || isDecidedOutsideTest(diagnosis)) return null;
  // The invisible difference is more informative than the response.
  if (evidence.errors.some(({ message }) => findLookAlike(message) !== null)) return null;
  const entry = chooseRelevantRequests(evidence, diagnosis.why).at(-1);
  if (entry && hasBypassedRoute(entry, evidence))
    return `${formatEndpoint(entry)} was answered by a service worker, bypassing the test's route`;
  const wrong =
    entry && entry.resourceType !== 'document' ? describeWrongResponse(entry, evidence.errors) : null;
  return entry && wrong !== null ? `${formatRequestLine(entry)} → ${wrong}` : null;
}

/** True if a service worker answered a request that the test meant to route: routes do not see requests of service workers. */
function hasBypassedRoute({ url }: NetworkEntry, { network, steps = [] }: Evidence): boolean {
  const path = getPath(url);
  const isRouted = steps.some(({ title }) => title.startsWith('Route requests ') && title.includes(path));
  return isRouted && path.length > 1 && network.some((entry) => entry.isOfServiceWorker && entry.url === url);
}

/** True if the deciding reason is something other than the test's own assertion. */
function isDecidedOutsideTest({ why: [reason] }: DiagnosedFailure['diagnosis']): boolean {
  return reason !== undefined && reason.source !== 'error' && reason.source !== 'stack';
}

/** True if a reason is deeper than the test's own error: in another channel, or in the error's `cause`. */
function isDeeper({ source, evidence }: Reason, errors: readonly TestError[]): boolean {
  if (source !== 'error' && source !== 'stack') return true;
  const text = removeEllipsis(evidence);
  return (
    errors.every(({ message }) => !message.includes(text)) &&
    errors.some(({ causes }) => causes.some((cause) => cause.includes(text)))
  );
}

/** Adds the message in the response if only the request decided. */
function addMessage(text: string, { source, evidence }: Reason, network: readonly NetworkEntry[]): string {
  const entry =
    source === 'network'
      ? network.findLast((one) => formatRequest(one).includes(removeEllipsis(evidence)))
      : undefined;
  const sentence =
    entry && listResponseTexts(entry).find((sentence) => !/^<|Internal Server Error/.test(sentence));
  return sentence === undefined || text.includes(sentence)
    ? text
    : `${text} ${sentence.replaceAll(/\s+/g, ' ')}`;
}

/** The resource type before a request line, which method and URL already imply. */
const resourceType = /^[a-z]{2,20} (?=[A-Z]{3,7} \S+ →)/;

/** Cuts a text at the end of a sentence, if there is one. */
function clipSentence(text: string): string {
  if (text.length <= MAX_PART) return text;
  const end = text.slice(0, MAX_PART).search(/[.!?](?= [A-Z][^.!?]*$)/);
  return end > MAX_PART / 3 ? text.slice(0, end + 1) : clip(text, MAX_PART);
}

/** Loggers' additions to a message: dates and times, durations, the mark of a cause, a snapshot's list item, the beginning of an object. */
const loggerParts: readonly RegExp[] = [
  /\b(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}\/\d{1,2}\/\d{4}),?[T ]{1,3}/g,
  /\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?[AP]M)?Z? ?/g,
  /,? in \d{1,9}(?:\.\d{1,9})? ?(?:ms|s|seconds?)\b/g,
  /^(?:\s*\[?(?:cause|Caused by)\]?: )+/,
  /^\s*(?:\|?- )(?:\w{1,20}: )?(?=\w{0,40}Error\b)/,
  // Node prints some errors in brackets, and the closing one may be on another line.
  /^\[(?=[^\]]*$)/,
  /\s*\{\s*$/,
];
const messageInJson = /"(?:message|msg|error|err|detail)": ?"((?:[^"\\]|\\.){3,300})"/;

/** Removes the logger's additions from a log line. */
function stripLoggerParts(line: string): string {
  const json = /^\s*[[{]/.test(line) ? messageInJson.exec(line)?.[1] : undefined;
  if (json !== undefined) return json.replaceAll('\\"', '"');
  const stripped = loggerParts.reduce((text, pattern) => text.replace(pattern, ''), line);
  return stripped.replaceAll(/ {2,}/g, ' ').trim() || line;
}

/** Describes a redirect from the requested page to another one, such as the sign-in page; null if there was none. */
function describeRedirect({ diagnosis: { category }, evidence }: DiagnosedFailure): string | null {
  const redirected = category === 'ui-error' ? findRedirect(evidence) : null;
  if (redirected === null) return null;
  return `${formatEndpoint(redirected)} to ${getPath(evidence.pageUrl ?? '')}`;
}

/** Returns the config line of the step at which the suite failed. */
function findPhaseLine({ failure, evidence }: DiagnosedFailure): string | null {
  return formatLine(evidence, failure.scope === 'suite' ? failure.phase?.at : null);
}

/** Returns the failing line of the user's code: of the exception, or else of the test. */
function findFailingLine({ evidence, diagnosis }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'ui-error' && diagnosis.facts.source !== null)
    return removeColumn(diagnosis.facts.source);
  const { errors } = evidence;
  return formatLine(
    evidence,
    [...orderErrors(errors).slice(0, 1), ...errors].find(({ location }) => location)?.location,
  );
}

function formatLine(
  evidence: Evidence,
  at: { file: string; line: number } | null | undefined,
): string | null {
  const file = at?.file.replaceAll('\\', '/');
  return at && file !== undefined ? `${relativeToProject(file, evidence) ?? file}:${at.line}` : null;
}
