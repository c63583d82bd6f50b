import type { AgentTroubleKind } from './agent-trouble.js';

/** Says what a text of an agent program means for us; the first that matches decides. */
export interface AgentTroubleRule {
  readonly id: string;
  readonly kind: AgentTroubleKind;
  readonly pattern: RegExp;
  /** What a person must do, where only a person can help. */
  readonly remedy?: string;
}

const credit = 'Add credit or raise the limit of the account, or wait until it is reset.';
const login = 'Log in to the agent program again (in Claude Code: /login), or give it a valid key.';

/**
 * A pattern, or a status code standing by itself: not in a port, a path, a version or a longer number, not as the number of a line or
 * an attempt, and not counting anything.
 */
function withStatus({ source }: RegExp, codes: string): RegExp {
  const before = String.raw`(?<![\w:.,/$#-])(?<!\b(?:line|port|row|column|col|attempt|pid|step|page|chunk|issue) )`;
  const after = String.raw`(?![\w:/-]|\.\d| ?(?:ms|s|m?b|kb|items?|lines?|tokens?|files?|tests?|times|chars?|bytes)\b)`;
  return new RegExp(`${source}|${before}(?:${codes})${after}`, 'i');
}

/**
 * The table of AG-6, in its order: retryable, context_overflow, fatal. Before it stand the texts whose words and status codes say
 * something else than they mean: a 429 for an empty purse does not get better by waiting, nor does one for a request that is larger
 * than the limit. Status codes match as whole numbers beside a word that says so, never inside other numbers.
 */
export const agentTroubleRules: readonly AgentTroubleRule[] = [
  // What a status code hides.
  {
    id: 'certificate',
    kind: 'fatal',
    pattern:
      /CERTIFICATE_VERIFY_FAILED|UNABLE_TO_(?:GET_ISSUER|VERIFY)|SELF_SIGNED_CERT|self[- ]signed certificate|CERT_(?:HAS_EXPIRED|UNTRUSTED)|unable to (?:get local issuer|verify the first) certificate/i,
    remedy: 'Give the agent program the certificates of your proxy (NODE_EXTRA_CA_CERTS).',
  },
  {
    id: 'output-limit',
    kind: 'fatal',
    pattern:
      /max_(?:output_|completion_)?tokens: ?\d+ ?> ?\d+|maximum allowed\s+number of\s+output\s+tokens/i,
    remedy: 'Lower the number of output tokens in the configuration of the agent program.',
  },
  {
    id: 'request-too-large',
    kind: 'context_overflow',
    pattern:
      /prompt is too long|prompt_too_long|prompt (?:token count|exceeds|too large)|request too large|request_too_large|(?:payload|content|request entity) too large|context[_ ](?:length|window)[_ ]exceeded|ContextOverflow|ContextWindowExceeded|(?:maximum|max) context length|exceeds? (?:the |this |its |your )?(?:model'?s? )?(?:available |maximum |max |total )?context|context (?:window )?(?:limit|overflow|size)|(?:out of room|full|exceeded?|too (?:long|large)) (?:in|for|of) (?:the |this )?(?:model'?s? )?context|input (?:token count|length|tokens?|is too long|too long)[^\n]{0,60}(?:exceed|too long|longer than|maximum)|(?:status|code|error|http)[^\w\n]{0,6}413\b/i,
  },
  {
    id: 'throttled',
    kind: 'retryable',
    pattern: /ThrottlingException|too many tokens, please wait|tokens per min(?:ute)?\b/i,
  },
  {
    id: 'daily-or-plan-limit',
    kind: 'fatal',
    pattern:
      /insufficient_quota|insufficient (?:credits?|balance|funds|quota)|exceeded your current quota|credit balance|out of credits?|no (?:more )?(?:quota|credits)\b|quota_exceeded|quota exceeded[^]{0,200}(?:per (?:day|month)|plan|billing)|(?:daily|monthly|weekly)\s(?:\w+\s){0,3}(?:quota|limit|rate limit)|\bper[ _]day\b|PerDay|TerminalQuota|premium request|(?:usage|spend(?:ing)?|hard|session|weekly|plan)[ -]limit(?:\s\w+){0,2}\s(?:reached|exceeded|hit)|(?:hit|reached|exceeded) your (?:\w+ ){0,2}limit|subscription|payment required|(?:status|code|error|http)[^\w\n]{0,6}402\b|^\W*402\b|billing (?:hard|not|is|account|details)|upgrade (?:your|to)/im,
    remedy: credit,
  },
  // AG-6 as it stands.
  {
    id: 'rate-limit',
    kind: 'retryable',
    pattern: withStatus(/rate[ _-]?limit|too many requests|resource[ _]?(?:has been )?exhausted/, '429'),
  },
  {
    id: 'overloaded',
    kind: 'retryable',
    pattern: withStatus(
      /overloaded|high demand|at capacity|service unavailable|bad gateway|gateway time-?out|temporarily unavailable|\bUNAVAILABLE\b/,
      '50[0234]|52\\d',
    ),
  },
  {
    id: 'server-error',
    kind: 'retryable',
    pattern:
      /internal server error|InternalServerError|\bserver[ _]error\b|internal error encountered|an error occurred while ?processing your request|server-side issue|stream (?:error|disconnected)|(?:connection|socket|stream|response|request) (?:was |has been )?(?:closed|reset|dropped|lost|interrupted|terminated|hung up)|premature close|socket hang up|other side closed/i,
  },
  {
    id: 'network',
    kind: 'retryable',
    pattern:
      /ETIMEDOUT|ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|getaddrinfo|fetch failed|\bnetwork\b|connection (?:error|refused|timed out|dropped)|(?:request|connection|operation|read|gateway) time(?:d )?-?out|timeout error|\bTimeoutError\b|APIConnectionError|APITimeoutError|unable to connect|could not connect/i,
  },
  {
    id: 'context',
    kind: 'context_overflow',
    pattern:
      /context length|context window|context overflow|too many tokens|maximum context|token limit|tokens? (?:exceed|over)/i,
  },
  {
    id: 'unauthorized',
    kind: 'fatal',
    pattern: withStatus(
      /unauthori[sz]ed|forbidden|invalid (?:\w+ )?key|authentication|not logged in|please run \/login|(?:token|session|login|credentials?) (?:has |is |have )?(?:expired|invalid|missing)|permission[_ ]denied|insufficient permissions?/,
      '40[13]',
    ),
    remedy: login,
  },
  {
    id: 'model',
    kind: 'fatal',
    pattern:
      /model[^\n]{0,80}(?:not (?:found|supported|available|exist)|does not exist|unavailable|inaccessible)|issue with the selected model|unknown model|ModelNotFound|invalid model/i,
    remedy: 'Choose a model that the account has, in the configuration of the agent program.',
  },
  {
    id: 'command',
    kind: 'fatal',
    pattern:
      /unknown command|unknown (?:option|argument|flag)|command not found|not recognized as an internal/i,
    remedy:
      'Write the slash command, or check the arguments in agents.yaml and the version of the agent program: `self-heal doctor`.',
  },
];
