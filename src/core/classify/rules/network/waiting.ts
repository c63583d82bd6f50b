import { rulesFor } from '../../rule.js';

/** Pages, requests and servers that did not answer in time, as Playwright and similar tools report it. */
export const waitingRules = rulesFor('network-error', [
  {
    id: 'network/navigation-timeout',
    pattern:
      /\b(?:[Pp]age|[Ff]rame)\.(?:goto|reload|goBack|goForward|go_back|waitForLoadState|wait_for_load_state)\b.{0,20}?(?:[Tt]est |time ?)?(?:[Tt]imeout|time out|timed out)\b|[Nn]avigation [Tt]imeout(?: of \d+ ?ms)? [Ee]xceeded|[Tt]imed out.{0,60}(?:page load|navigation)|Navigation failed because (?:page was closed|net)|interrupted by another navigation|Cannot navigate to invalid URL|[Nn]avigation to ".{1,300}" (?:failed|was canceled)|page\.goto\b.{0,200}time ?d? ?out|page\.waitForURL\(.{0,200}time ?d? ?out/i,
    // Below an answer that the page's own request got: a wait that ends without a result is its consequence.
    confidence: 0.73,
  },
  {
    id: 'network/awaited-navigation',
    // What the test waits for may be up to the app: a router changes the address without a request.
    pattern:
      /waiting for navigation (?:to|until|")|waiting for ".{1,200}" navigation|\b(?:[Pp]age|[Ff]rame)\.(?:waitForNavigation|wait_for_navigation|waitForURL|wait_for_url|expect_navigation)\b.{0,20}?(?:[Tt]est |time ?)?(?:[Tt]imeout|time out|timed out)\b/i,
    unanswered: true,
    confidence: 0.73,
  },
  {
    id: 'network/response-timeout',
    pattern:
      /\bwaitFor(?:Response|Request): (?:Page|Browser|Target) .{0,20}closed|^(?:Error: |AxiosError: )?timeout of \d+ms exceeded|\b(?:waitFor|expect_|wait_for_)_?(?:[Rr]esponse|[Rr]equest)\w*\b.{0,30}[Tt]imeout|while waiting for event (?:"(?:response|request\w*)"|$)|Timeout.{0,60}waiting for (?:response|request)\b/m,
    confidence: 0.85,
  },
  {
    id: 'network/api-request',
    pattern:
      /\b(?:apiRequestContext|APIRequestContext|route)\.\w{1,20}: |\brequest\.(?:get|post|put|patch|delete|fetch|head): |request timed out/i,
    unless: /Target (?:page|closed)|has been closed|is not a function|already handled/,
    confidence: 0.82,
  },
  {
    id: 'network/navigating-log',
    pattern: /\bpage\.goto\(.{0,300}\)|^\s{0,20}-?\s{0,9}navigating to "?\S{1,300}"?, waiting until/m,
    sources: ['error'],
    confidence: 0.65,
  },
  {
    id: 'network/web-server-unreachable',
    pattern:
      /Timed out waiting (?:\d+ms )?from config\.webServer|Timed out waiting for: |[Ww]aiting (?:for|on) https?:\/\/\S{1,200} .{0,40}tim(?:ed|e) ?out|timed out on retry|\bEADDR(?:INUSE|NOTAVAIL)\b|\blisten EACCES\b|[Aa]ddress already in use|is already used, make sure that nothing is running|[Pp]ort (?:\d{2,5} )?is already allocated|[Pp]ort \d{2,5} (?:is )?(?:already )?(?:in use|used|allocated|occupied|not available|unavailable)|Something is already running on port|server (?:did not|failed to|never) (?:start|respond|become)|verify that (?:the|your|this) server is running/i,
    unless: /trying another|using (?:available )?port|instead/i,
    confidence: 0.82,
  },
]);
