import type { AgentEnd } from '../model/attempt.js';
import { stripAnsi } from '../visible-text.js';

/** How an agent program failed. `timeout` and `aborted` are set by self-heal, the others come from its output (AG-6). */
export const agentErrors = ['retryable', 'context_overflow', 'fatal', 'timeout', 'aborted'] as const;

/** The reaction to a failure of an agent program: a wait, a shorter prompt, or a person (AG-6). */
type AgentErrorKind = Exclude<AgentError, 'timeout' | 'aborted'>;

export type AgentError = (typeof agentErrors)[number];

/** The reasons why an agent program fails, and the kind of each. The remedy depends on the reason. */
const kindByReason = {
  overloaded: 'retryable',
  'rate-limited': 'retryable',
  connection: 'retryable',
  'prompt-too-long': 'context_overflow',
  'out-of-credit': 'fatal',
  'quota-used-up': 'fatal',
  unauthorized: 'fatal',
  model: 'fatal',
  certificate: 'fatal',
  'invalid-request': 'fatal',
  refused: 'fatal',
  'session-unknown': 'fatal',
  'command-line': 'fatal',
  unknown: 'fatal',
} as const satisfies Record<string, AgentErrorKind>;

export type AgentErrorReason = keyof typeof kindByReason;

/** The meaning of an agent program's error output, and the line that shows it. */
export interface AgentDiagnosis {
  readonly kind: AgentErrorKind;
  readonly reason: AgentErrorReason;
  /** The deciding line, at most 300 characters; null if no rule matched. */
  readonly evidence: string | null;
}

/** The wording and the status codes that show a reason, unless `unless` matches, too. */
type RuleRow = readonly [
  AgentErrorReason,
  RegExp,
  { readonly codes?: readonly number[]; readonly unless?: RegExp }?,
];

/** The table of AG-6: the first row that matches decides. */
const rows: readonly RuleRow[] = [
  // These texts name their cause but would also match a later row: a daily quota answers 429, a prompt that is too long is wrapped
  // in a 500, and a bad certificate looks like a network error.
  [
    'prompt-too-long',
    /\b(?:prompt|input|conversation|context)\b.{0,15} too (?:long|large)\b|context_(?:length|window)_exceeded|prompt_too_long|\b(?:maximum|max) context (?:length|size|window)|exceeds? (?:the |your |this |its )?(?:model'?s? )?(?:available |maximum )?context\b|(?:input|prompt) token count.{0,40}exceeds?|input length and .{0,20}max_tokens. exceed|request_too_large|request (?:body |entity )?(?:is )?too large|payload too large|exceeds? .{0,40}maximum (?:allowed )?(?:input|prompt|number of tokens allowed)|ran out of room in the model|ContextOverflow|context exceeds (?:the )?model limit|tokens? > \d+ maximum/i,
    {
      codes: [413],
      // A limit on the output is a setting. After a per-minute limit, waiting helps, unless a single request exceeds it.
      unless:
        /number of output tokens|\bper (?:day|month)\b|daily (?:rate )?limit|per minute(?!.*(?:too large|requested \d))/i,
    },
  ],
  ['invalid-request', /maximum allowed number of output tokens/i],
  [
    'out-of-credit',
    /insufficient[_ ](?:quota|credits?|balance|funds)|credit balance|out of (?:\w+ )?credits?|not enough credits|billing (?:is )?not (?:active|enabled)|plans? & billing|payment required|spend(?:ing)?[_ -](?:limit|cap)|budget (?:has been )?exceeded/i,
    { codes: [402] },
  ],
  [
    'quota-used-up',
    /\b(?:usage|session|weekly|monthly|daily|5-hour|five-hour)[ _]limit|\b(?:hit|reached|exceeded) (?:your|the|its) .{0,30}\b(?:limit|allowance)\b.{0,60}(?:reset|upgrade|plan|premium|switch)|hit your .{0,20}limit|limit (?:reached|will reset)? ?[·∙•|].{0,20}reset|\b(?:weekly|monthly|daily|session)[ -](?:\w+ )?rate limit|(?:try again|retry|resets?|wait)\b.{0,20} \d+ ?(?:h|hours?|days?)\b|premium request|daily (?:rate limit|quota|request)|per[ -]?day|PerDay|per[ -]?month|monthly quota|TerminalQuota|no quota|quota_exceeded|usage_limit_reached/i,
    { unless: /usage limit.{0,40}per minute/i },
  ],
  [
    'quota-used-up',
    /plan and billing|billing details|exceeded your (?:current )?quota|quota (?:has been )?(?:exceeded|exhausted)|exhausted your/i,
    // Waiting helps if the limit resets within minutes.
    { unless: /per[ -]?(?:minute|second)|\b[TR]P[MS]\b|retryDelay|retry in \d+(?:\.\d+)? ?s/i },
  ],
  [
    'certificate',
    /self[- _]signed|certificate[ _]verify|certificate has expired|unable to (?:get|verify).{0,30}(?:cert|issuer)|\b(?:CERT_[A-Z_]+|UNABLE_TO_[A-Z_]*(?:CERT|SIGNATURE)[A-Z_]*|ERR_TLS_[A-Z_]+)\b/i,
  ],
  // The last answer outweighs retries and broken streams.
  ['unauthorized', /(?:unexpected|last) status:? (?:401|403)\b/i],
  [
    'session-unknown',
    /no conversation found|session not found|no rollout found|session ID:? .{0,60}already in use|no previous sessions? found|no session, task,? or name matched|invalid session identifier/i,
  ],
  [
    'invalid-request',
    // A malformed request stays malformed when it is sent again.
    /(?:API Error|Error code|CAPIError|BadRequestError|status)\W{1,4}(?:400|422)\b.{0,80}invalid_request_error|ValidationException|Unexpected server error. Check server logs/i,
  ],

  // The remaining rows follow the order of AG-6.
  [
    'rate-limited',
    /rate[ _-]?limit|retry in \d+(?:\.\d+)? ?s|quota.{0,80}per[ -]?minute|too many requests|throttl|resource[ _]?(?:has been )?exhausted/i,
    { codes: [429] },
  ],
  [
    'overloaded',
    /overloaded|high demand|at capacity|service unavailable|temporarily unavailable|bad gateway|gateway time-?out|internal error encountered|(?:internal[_ ])?server[_ ](?:side )?error\b|InternalServerError|\bapi_error\b|\bUNAVAILABLE\b|\btry again later\b|an error occurred while ?processing your request/i,
    { codes: [408, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529] },
  ],
  [
    'connection',
    /\b(?:ETIMEDOUT|ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|UND_ERR_\w+)\b|(?<![\w./\\-])network(?![\w/\\]|-\w)|dns error|failed to lookup|name resolution|other side closed|socket hang up|fetch failed|stream (?:error|disconnected|closed)|premature close|internet connection|connection (?:error|refused|reset|closed|dropped|timed out|lost|aborted)|(?:unable|failed|cannot|could not|couldn't) (?:to )?connect|APIConnectionError|request timed? ?out|(?:response|stream|idle|read|connect(?:ion)?) time-?out|operation (?:was aborted due to )?timed? ?-?out|timed out after|deadline exceeded|error sending request/i,
  ],
  [
    'prompt-too-long',
    /context[ _-](?:length|window|overflow|size|limit)|maximum[ _-]context|too many (?:input )?tokens|token[ _-]limit|reduce the length of/i,
  ],
  [
    'model',
    /model.{0,60}(?:not found|not supported|not available|does not exist|not exist|not deployed|inaccessible)|model_not_found|(?:unknown|invalid) model|issue with the selected model|not authorized to access this model/i,
  ],
  [
    'unauthorized',
    /unauthori[sz]ed|forbidden|authenticat|permission[_ ]denied|insufficient permissions|missing scopes|invalid.{0,12}(?:api[ _-]?)?(?:key|credentials|token)\b|(?:api[ _-]?)?key (?:is )?(?:invalid|not valid|missing|required)|api key not|no api key|missing environment variable: .?\w*(?:KEY|TOKEN)|must specify the \w+_API_KEY|not logged in|please run \/login|log ?in again|token (?:has )?expired|oauth token|auth(?:entication)? method/i,
    { codes: [401, 403, 407] },
  ],
  [
    'command-line',
    /(?:unknown|unrecognized) (?:option|argument|flag|command)|unexpected argument|command not found|cannot be used with root|not inside a trusted directory|not trusted/i,
  ],
  ['refused', /usage policy|content[ _]?(?:filter|policy)|violat.{0,30}policy|safety|refusal/i],
  ['invalid-request', /invalid_request|bad request/i, { codes: [400, 404, 422] }],
];

/** Excludes numbers of lines, ports and positions (`chunk.js:404`, `line 503`, `port 4290`). */
const notAfterPosition = String.raw`(?<![\w.:/#$-])(?<!\b(?:lines?|ports?|col|column|pid|row|page|chunk|byte|at)[ :=#]{1,2})`;
/** Excludes quantities and parts of longer numbers (`429 ms`, `503 tests`, `4.29`, `500:12`). */
const notBeforeUnit = String.raw`(?![\w%/-]|[.,:]\d| ?(?:ms|s|secs?|seconds?|minutes?|hours?|days?|kb|mb|gb|bytes|tokens?|tests?|lines?|files?|errors?|times|characters|chars|px|items?|records?|rows?)\b)`;
/** `status:429`, `code=429`, `(429)` and `HTTP/1.1 429` are always status codes. */
const statusLabel = String.raw`(?<=\b(?:status|code|http|error)["']?[:=]["']?)`;

/** The rows with one pattern each, which matches codes only as whole status codes. */
const rules = rows.map(([reason, words, { codes = [], unless } = {}]) => {
  const codePattern = `(?:${codes.join('|')})`;
  const statuses =
    codes.length > 0
      ? `|${notAfterPosition}${codePattern}${notBeforeUnit}|${statusLabel}${codePattern}(?!\\d)`
      : '';
  return { reason, unless, pattern: new RegExp(words.source + statuses, 'i') };
});

/** Only the end of a text is read, because programs report their fatal error there. */
const MAX_CHARACTERS = 20_000;
const MAX_EVIDENCE_CHARACTERS = 300;

/** Classifies the failure text of an agent program. The first matching row decides; text without a match is fatal. */
export function classifyAgentError(text: string): AgentDiagnosis {
  const clean = removeFrames(text.slice(-MAX_CHARACTERS));
  for (const { reason, pattern, unless } of rules) {
    const match = pattern.exec(clean);
    if (match && !unless?.test(clean))
      return { kind: kindByReason[reason], reason, evidence: quoteLineAround(clean, match.index) };
  }
  return { kind: 'fatal', reason: 'unknown', evidence: null };
}

/** Removes colors, frames drawn by terminal programs, and line breaks inside sentences. */
function removeFrames(text: string): string {
  return stripAnsi(text)
    .replaceAll(/[│┃╭╮╰╯─━⎿■✕✗●]/g, ' ')
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/(?<=[a-z,])\n(?=[a-z])/g, ' ')
    .trim();
}

function quoteLineAround(text: string, index: number): string {
  const start = text.lastIndexOf('\n', index) + 1;
  const end = text.indexOf('\n', index);
  const line = text.slice(start, end === -1 ? undefined : end);
  const from = Math.max(0, index - start - MAX_EVIDENCE_CHARACTERS / 2);
  return line.slice(from, from + MAX_EVIDENCE_CHARACTERS).trim();
}

/** Returns the error that kept an agent program from working (AG-6); null if it worked, successfully or not. */
export function classifyAgentEnd({ kind }: AgentEnd): AgentError | null {
  if (kind === 'timed-out') return 'timeout';
  if (kind === 'aborted' || kind === 'retryable') return kind;
  if (kind === 'context-overflow') return 'context_overflow';
  return kind === 'unusable' ? 'fatal' : null;
}

const number = String.raw`(\d{1,6}(?:\.\d{1,9})?)`;
const unit = String.raw`(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)(?![a-z])`;

/** Fields with a numeric value, quoted or not, and an optional unit; a name that ends in `ms` means milliseconds. */
const waitField = new RegExp(
  String.raw`\b(retry[-_ ]?after(?:[-_](?:ms|seconds))?|retryDelay|reset[-_ ]?after)\b["']? ?[:=(]? ?["']?${number} ?(?:${unit})?`,
  'gi',
);
/** `try again in 1m30s`, `Please retry in 38.2s.`, `wait 30 seconds before …`. A number without a unit may mean anything. */
const waitSentence = new RegExp(
  String.raw`\b(?:(?:re)?try(?: again)?|available(?: again)?|resets?) (?:in|after) (?:about |~)?${number} ?${unit}(?: ?(?:and )?${number} ?${unit})?|\bwait (?:for )?(?:about |at least )?${number} ?${unit}`,
  'gi',
);

/** Returns the last wait that a program's output demands before another request, in milliseconds; null if there is none. */
export function parseRequestedWaitMs(text: string): number | null {
  const end = text.slice(-MAX_CHARACTERS).replaceAll('\\"', '"');
  const waits = [
    // A number without a unit is in seconds, as in HTTP's `Retry-After` header.
    ...Array.from(end.matchAll(waitField), ({ index, 1: name = '', 2: value, 3: unit }) => ({
      index,
      ms: toMs(value, unit ?? (/ms$/i.test(name) ? 'ms' : 's')),
    })),
    ...Array.from(end.matchAll(waitSentence), (match) => ({
      index: match.index,
      ms: toMs(match[1], match[2]) + toMs(match[3], match[4]) + toMs(match[5], match[6]),
    })),
  ];
  const last = waits.toSorted((a, b) => a.index - b.index).at(-1);
  return last === undefined ? null : Math.ceil(last.ms);
}

function toMs(value = '0', unit = 's'): number {
  const word = unit.toLowerCase();
  const factor = /^m(?:s|illi)/.test(word) ? 1 : word.startsWith('m') ? 60_000 : 1000;
  return Number(value) * factor;
}
