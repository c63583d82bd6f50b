/** Rules out what precedes a number that is not a status: a line, a port, a position (`chunk.js:404`, `line 503`, `port 4290`). */
const before = String.raw`(?<![\w.:/#$-])(?<!\b(?:lines?|ports?|col|column|pid|row|page|chunk|byte|at)[ :=#]{1,2})`;
/** Rules out what follows a number that is a quantity or part of a longer number (`429 ms`, `503 tests`, `4.29`, `500:12`). */
const behind = String.raw`(?![\w%/-]|[.,:]\d| ?(?:ms|s|secs?|seconds?|minutes?|hours?|days?|kb|mb|gb|bytes|tokens?|tests?|lines?|files?|errors?|times|characters|chars|px|items?|records?|rows?)\b)`;
/** `status:429`, `code=429`, `(429)` and `HTTP/1.1 429` are statuses regardless of what surrounds them. */
const named = String.raw`(?<=\b(?:status|code|http|error)["']?[:=]["']?)`;

/** Returns a pattern that finds these numbers as whole status codes, and not as part of other numbers (AG-6). */
function statusCode(...codes: readonly number[]): string {
  const any = `(?:${codes.join('|')})`;
  return `(?:${before}${any}${behind}|${named}${any}(?!\\d))`;
}

/** What a failure of an agent program calls for: waiting, a shorter prompt, or a person (AG-6). */
export type AgentErrorKind = 'retryable' | 'context_overflow' | 'fatal';

/** What may go wrong with an agent program, which determines what the user is told to do, and what it calls for. */
export const agentErrorKinds = {
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

/** What went wrong with an agent program. */
export type AgentErrorReason = keyof typeof agentErrorKinds;

/** One row of the table: the first row that matches decides. */
export interface AgentErrorRule {
  readonly reason: AgentErrorReason;
  readonly pattern: RegExp;
  /** If this matches too, the row does not apply. */
  readonly unless?: RegExp;
}

const any = (...alternatives: readonly string[]) => new RegExp(alternatives.join('|'), 'i');

/** Shows that the limit resets within minutes, whatever else the text says about quotas. */
const soon = any(
  'per[ -]?minute',
  'per[ -]?second',
  String.raw`\b[TR]P[MS]\b`,
  'retryDelay',
  String.raw`retry in \d+(?:\.\d+)? ?s`,
);

/** The pattern table of AG-6. Text that matches no row is fatal. */
export const agentErrorRules: readonly AgentErrorRule[] = [
  // These texts name their cause outright but would also match a later row: a daily quota answers 429, a prompt that is too
  // long is wrapped in a 500, and a bad certificate looks like a network error.
  {
    reason: 'prompt-too-long',
    pattern: any(
      String.raw`\b(?:prompt|input|conversation|context)(?: \w+)? is too (?:long|large)\b`,
      String.raw`\b(?:prompt|input|conversation|context)\b.{0,15} too (?:long|large)\b`,
      'context_length_exceeded|context_window_exceeded|ContextOverflow|ContextWindowExceeded|prompt_too_long',
      String.raw`\b(?:maximum|max) context (?:length|size|window)`,
      String.raw`exceeds? (?:the |your |this |its )?(?:model'?s? )?(?:available |maximum )?context\b`,
      String.raw`input length and .{0,20}max_tokens. exceed|input (?:length|tokens?) exceeds?`,
      String.raw`(?:input|prompt) token count.{0,40}exceeds?`,
      String.raw`model_max_prompt_tokens_exceeded|string_above_max_length|request_too_large|request (?:body |entity )?(?:is )?too large|payload too large|length limit exceeded`,
      String.raw`maximum prompt length|exceeds? .{0,40}maximum (?:allowed )?(?:input|prompt|number of tokens allowed)`,
      String.raw`ran out of room in the model|tokens? > \d+ maximum`,
      statusCode(413),
    ),
    // A limit on the output is a setting. A per-minute limit is worth waiting for, unless a single request exceeds it.
    unless: any(
      'number of output tokens',
      String.raw`\bper (?:day|month)\b|daily (?:rate )?limit`,
      String.raw`per minute(?!.*(?:too large|requested \d))`,
    ),
  },
  {
    reason: 'invalid-request',
    pattern: any(
      'maximum allowed number of output tokens',
      String.raw`max_tokens.{0,40}(?:too large|at most)`,
    ),
  },
  {
    reason: 'out-of-credit',
    pattern: any(
      'insufficient[_ ](?:quota|credits?|balance|funds)|credit balance|out of (?:\\w+ )?credits?|no credits?\\b|not enough credits',
      'billing[_ ](?:hard[_ ])?limit|billing (?:is )?not (?:active|enabled)|plans? & billing|payment required|more credits',
      'spend(?:ing)?[_ -](?:limit|cap)|budget (?:has been )?exceeded',
      statusCode(402),
    ),
  },
  {
    reason: 'quota-used-up',
    pattern: any(
      String.raw`\b(?:usage|session|weekly|monthly|daily|5-hour|five-hour)[ _]limit`,
      String.raw`\b(?:hit|reached|exceeded) (?:your|the|its) .{0,30}\b(?:limit|allowance)\b.{0,60}(?:reset|upgrade|plan|premium|switch)`,
      String.raw`hit your .{0,20}limit|limit (?:reached|will reset)? ?[·∙•|].{0,20}reset`,
      String.raw`\b(?:weekly|monthly|daily|session)[ -](?:\w+ )?rate limit`,
      String.raw`(?:try again|retry|resets?|wait)\b.{0,20} \d+ ?(?:h|hours?|days?)\b`,
      String.raw`premium request|daily (?:rate limit|quota|request)|per[ -]?day|PerDay|per[ -]?month|monthly quota|TerminalQuota`,
      String.raw`no quota|quota_exceeded|usage_limit_reached|usage_not_included`,
    ),
    unless: any(String.raw`usage limit.{0,40}per minute`),
  },
  {
    reason: 'quota-used-up',
    pattern: any(
      'plan and billing|billing details|exceeded your (?:current )?quota|quota (?:has been )?(?:exceeded|exhausted)|exhausted your',
    ),
    unless: soon,
  },
  {
    reason: 'certificate',
    pattern: any(
      'self[- _]signed|certificate[ _]verify|certificate has expired|unable to (?:get|verify).{0,30}(?:cert|issuer)',
      String.raw`\b(?:CERT_[A-Z_]+|UNABLE_TO_[A-Z_]*(?:CERT|SIGNATURE)[A-Z_]*|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_[A-Z_]+)\b`,
    ),
  },
  {
    reason: 'unauthorized',
    // The last answer decides, whatever retries and broken streams surround it.
    pattern: any(String.raw`(?:unexpected|last) status:? (?:401|403)\b`),
  },
  {
    reason: 'session-unknown',
    pattern: any(
      'no conversation found|session not found|no rollout found|session ID:? .{0,60}already in use|no previous sessions? found|no session, task,? or name matched|invalid session identifier',
    ),
  },
  {
    reason: 'invalid-request',
    // A request that the API refuses as malformed stays malformed, no matter how often it is sent.
    pattern: any(
      String.raw`(?:API Error|Error code|CAPIError|BadRequestError|status)\W{1,4}(?:400|422)\b.{0,80}invalid_request_error`,
      'ValidationException|Unexpected server error. Check server logs',
    ),
  },

  // From here on: the specification's own three groups, in its order.
  {
    reason: 'rate-limited',
    pattern: any(
      String.raw`rate[ _-]?limit`,
      String.raw`retry in \d+(?:\.\d+)? ?s|quota.{0,80}per[ -]?minute`,
      'too many requests|throttl|resource[ _]?(?:has been )?exhausted',
      statusCode(429),
    ),
  },
  {
    reason: 'overloaded',
    pattern: any(
      'overloaded|high demand|at capacity|capacity constraints',
      'service unavailable|temporarily unavailable|bad gateway|gateway time-?out|internal server error|internal error encountered',
      String.raw`(?:internal[_ ])?server[_ ](?:side )?error\b|InternalServerError|\bapi_error\b|\bUNAVAILABLE\b|\btry again later\b`,
      String.raw`an error occurred while ?processing your request|unable to process your request`,
      statusCode(408, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529),
    ),
  },
  {
    reason: 'connection',
    pattern: any(
      String.raw`\b(?:ETIMEDOUT|ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|UND_ERR_\w+)\b`,
      String.raw`(?<![\w./\\-])network(?![\w/\\]|-\w)`,
      'dns error|failed to lookup|name resolution|name or service not known|peer closed|other side closed|incomplete chunked',
      'socket hang up|fetch failed|stream (?:error|disconnected|closed)|premature close|getaddrinfo',
      String.raw`internet connection|connection (?:error|refused|reset|closed|dropped|timed out|lost|aborted)|(?:unable|failed|cannot|could not|couldn't) (?:to )?connect|upstream connect error|disconnect/reset|APIConnectionError`,
      String.raw`request timed? ?out|(?:response|stream|idle|read|connect(?:ion)?) time-?out|APITimeoutError|operation (?:was aborted due to )?timed? ?-?out|timed out after|deadline exceeded|error sending request`,
    ),
  },
  {
    reason: 'prompt-too-long',
    pattern: any(
      'context[ _-]length|context[ _-]window|context[ _-]overflow|context[ _-](?:size|limit)|maximum[ _-]context',
      'too many (?:input )?tokens|token[ _-]limit|reduce the length of',
    ),
  },
  {
    reason: 'model',
    pattern: any(
      String.raw`model.{0,60}(?:not found|not supported|not available|does not exist|not exist|not deployed|inaccessible)`,
      'model_not_found|unknown model|invalid model|issue with the selected model|not authorized to access this model',
    ),
  },
  {
    reason: 'unauthorized',
    pattern: any(
      'unauthori[sz]ed|forbidden|authenticat|permission[_ ]denied|insufficient permissions|missing scopes',
      'invalid.{0,12}(?:api[ _-]?)?(?:key|credentials|token)\\b|(?:api[ _-]?)?key (?:is )?(?:invalid|not valid|missing|required)|api key not',
      'not logged in|please run /login|log ?in again|token (?:has )?expired|no api key|oauth token|auth(?:entication)? method',
      statusCode(401, 403, 407),
    ),
  },
  {
    reason: 'command-line',
    pattern: any(
      'unknown (?:option|argument|flag|command)|unrecognized (?:option|argument)|unexpected argument|command not found|cannot be used with root|not inside a trusted directory|not trusted',
    ),
  },
  {
    reason: 'refused',
    pattern: any('usage policy|content[ _]?(?:filter|policy)|violat.{0,30}policy|safety|refusal'),
  },
  {
    reason: 'invalid-request',
    pattern: any('invalid_request|bad request', statusCode(400, 404, 422)),
  },
];
