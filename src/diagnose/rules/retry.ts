import type { Category } from '../../model/diagnosis.js';
import type { RetryRule } from '../rule.js';

const externalCategories: readonly Category[] = ['network-error', 'database-error', 'unknown'];
const allCategories: readonly Category[] = [
  ...externalCategories,
  'build-error',
  'runtime-error',
  'ui-error',
];

/** A comparison of statuses: a refusal or an outage that the test expects but does not get needs a code change. */
const statusComparison = /^> |\bexpected|\bassert|UNAUTHENTICATED\)/i;

/**
 * Rules for the second axis (CS-11); the first match wins. The axis says what the *fix* needs, so a rule applies only to classes in which its words
 * can name the cause: an expected 403, or a locator that times out, needs a code change.
 */
export const retryRules: readonly RetryRule[] = [
  {
    id: 'retry/database-grant',
    axis: 'never_retry',
    categories: ['database-error'],
    pattern:
      /permission denied (?:for|to)\b|authentication failed|Access denied for user|Login failed for user|\bP10(?:00|10)\b|pg_hba\.conf|NOAUTH|must be owner of|\b28(?:P01|000)\b/i,
  },
  {
    id: 'retry/identity',
    axis: 'never_retry',
    categories: ['network-error', 'unknown'],
    pattern:
      /\b401:? Unauthorized|^\s{0,20}40[13] (?:GET|POST|PUT|PATCH|DELETE) \/|\b403:? Forbidden|^(?:Error: )?(?:Unauthorized|Forbidden)\b|authentication failed|invalid (?:login )?credentials|invalid API key|access denied|permission denied|→ 40[13]\b|(?:status|response)(?:[ _]?code)?\\?["']?(?: of|:|=)? ?40[13]\b|\b(?:HTTP(?:\/[\d.]{1,3}"?)?|error):? 40[13]\b|\binvalid_grant\b|JWT expired|[("':=\d] ?UNAUTHENTICATED\b|\bNot (?:authori[sz]ed|authenticated)\b/im,
    unless: statusComparison,
  },
  {
    id: 'retry/quota',
    axis: 'never_retry',
    categories: ['network-error', 'unknown', 'ui-error'],
    pattern:
      /rate limit(?: exceeded| reached|ed)|too many (?:\w{1,20} )?(?:attempts|requests)\b|quota exceeded|subscription (?:has )?(?:expired|required|inactive|is not)|licen[sc]e (?:key )?(?:has )?(?:expired|invalid|required|is)|status(?: ?code)?(?: of|:|=)? ?429\b|→ 429\b|\b402:? Payment Required|(?<![\w/-])billing(?![\w/-])/i,
    unless: statusComparison,
  },
  {
    id: 'retry/received-refusal',
    axis: 'never_retry',
    categories: ['network-error', 'unknown'],
    pattern: matchReceivedStatus('401|403|429'),
  },
  {
    id: 'retry/machine',
    axis: 'env_error',
    categories: allCategories,
    // Disk, memory, the package registry.
    pattern:
      /exit(?:ed)?(?: with)?(?: code)?:? 137\b|\bENOSPC\b|no space left|disk (?:is )?full|heap out of memory|near heap limit|OOMKilled|Cannot allocate memory|\bEMFILE\b|\bENOMEM\b|out of memory\b|Last few GCs|\bMark-(?:compact|sweep)\b|^Killed$|: {1,4}\d{1,7} Killed\b|npm (?:ERR!|error) (?:network|code (?:E5\d\d|ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN))|registry.{0,80}(?:unavailable|failed|timed out|ECONN|ENOTFOUND)|Failed to download|temporary failure/im,
  },
  {
    id: 'retry/database-unreachable',
    axis: 'env_error',
    categories: ['database-error'],
    pattern:
      /(?:database|role) "[^"\n]{1,80}" does not exist|\bECONN\w+|\bETIMEDOUT\b|\bENOTFOUND\b|\bEAI_AGAIN\b|can't reach database server|connection refused|is locked|SQLITE_BUSY|BusyException|connection pool|pool (?:is )?(?:exhausted|full|timeout|timed out)|QueuePool limit|too many (?:connections|clients)|connection terminated|(?:connection|query|statement|pool|handshake)\b.{0,30}\btimed out\b|timeout (?:exceeded|acquiring)|statement timeout|the database system is|connection slots|could not connect|can't connect|gone away|CONNECTION_LOST|\bP(?:1001|1002|1008|1017|2024)\b|ServerSelection|PrismaClientInitializationError|MongoNetwork|closed the connection|administrator command|connection to server|unable to connect|failed to connect|lock timeout|Lock wait timeout|deadlock (?:found|detected)|could not reach|client is offline/i,
    unless: /Transaction API/,
  },
  {
    id: 'retry/connection',
    axis: 'env_error',
    categories: ['network-error', 'unknown'],
    pattern:
      /\bECONN\w+|\bETIMEDOUT\b|\bENOTFOUND\b|\bEAI_AGAIN\b|\bE(?:HOST|NET)UNREACH\b|\bEPIPE\b|\bEADDR(?:INUSE|NOTAVAIL)\b|socket hang up|net::ERR_(?:CONNECTION|NAME|TIMED|INTERNET|ADDRESS|EMPTY|NETWORK|SOCKET|PROXY|TUNNEL|HTTP2|DNS)\w*|NS_ERROR_(?:CONNECTION|NET|UNKNOWN_HOST|OFFLINE)\w*|connection (?:refused|(?:was )?reset|timed out|was lost|closed|terminated)|name resolution|could not connect|unable to connect|other side closed|no such host|\bgetaddrinfo\b|UND_ERR_\w{0,60}(?:TIMEOUT|SOCKET)|already (?:in use|allocated)|is already used|can.t establish a connection|could not resolve host|network is unreachable|Max retries exceeded|Frame load interrupted|\bTypeError: (?:fetch failed|terminated)\b|AxiosError: Network Error|net::err_failed at |cannot connect to|\bERR_(?:SOCKET|NETWORK|CONNECTION|NAME_NOT|INTERNET|EMPTY|TIMED|ADDRESS)\w*|\bpremature close\b|server (?:did not|failed to|never) (?:start|respond|become)|could not verify that this server is running/i,
  },
  {
    id: 'retry/no-answer',
    axis: 'env_error',
    categories: ['network-error', 'unknown'],
    pattern: /\btime(?:d )?-?\s?out\b|\bTimeout(?:Error|Exception)\b|DEADLINE_EXCEEDED/i,
    // A missing element says nothing about the machine, even if requests from the page failed.
    unless:
      /hook|fixture|^(?:Error: )?(?:Test|Worker teardown) timeout of|\b(?:locator|elementHandle|frameLocator)\.\w{1,40}: |\bpage\.(?:click|fill|check|hover|press|type|tap|selectOption|waitForSelector): |\bexpect\b|^\s{0,20}Timeout: +\d|waiting on the predicate/i,
  },
  {
    id: 'retry/service-down',
    axis: 'env_error',
    categories: externalCategories,
    pattern:
      /bad gateway|service (?:temporarily )?unavailable|gateway time-?out|\b(?:failed|failure|error|answered|response)\b[^\w\n]{0,4}50[234]\b|→ 50[234]\b|status(?: ?code)?(?: of|:|=)? ?50[234]\b|\b(?:responded|returned|received|replied)(?: (?:with|an?|HTTP|status|code|error)){0,5}:? 50[234]\b|HTTP(?:\/[\d.]+)? 50[234]\b|temporarily unavailable/i,
    unless: statusComparison,
  },
  {
    id: 'retry/received-outage',
    axis: 'env_error',
    categories: externalCategories,
    pattern: matchReceivedStatus('502|503|504'),
  },
  {
    id: 'retry/browser',
    axis: 'env_error',
    categories: ['unknown'],
    pattern:
      /exit(?:ed)?(?: with)?(?: code)?:? 13[2459]\b|lost communication|crashed|has been closed|Target closed|disconnected|browser (?:was )?closed|executable doesn't exist|failed to launch|missing (?:a few )?dependencies|shared libraries|operation was canceled|playwright install|worker (?:process )?exited|a XServer|X server|<launch(?:ing|ed)> |\[pid=\d+\]\[err\]|\bSIG(?:SEGV|ABRT|KILL|TRAP|BUS)\b|sandboxing|distribution '|just installed or updated|browserType\.(?:launch|connect)|Session closed|not bound in the connection|while setting up "(?:browser|context|page)"|connection closed|Could not find Chrome|session not created|resource temporarily unavailable|response from daemon|\bspawn \S{0,200}(?:chrom|firefox|webkit|playwright)\S{0,100} (?:ENOENT|EACCES)/i,
  },
];

/** Matches an assertion that received one of these statuses: `expected 200 "OK", got 502`, `expected 502 to equal 200`. */
function matchReceivedStatus(statuses: string): RegExp {
  return new RegExp(
    String.raw`\b(?:got|received|but (?:was|is|found|saw)|actual(?: status)?:?|instead got)(?: (?:an?|HTTP|status|code)){0,3}:? ?[<"'(]?(?:${statuses})\b|\bexpected (${statuses}) to (?:be|equal|eql|deeply equal|strictly equal|===?) (?!\1)\d{3}\b|\bassert (${statuses}) == (?!\2)\d{3}\b`,
    'i',
  );
}
