import type { Category } from '../../diagnosis.js';
import type { RetryRule } from '../rule.js';

/** Matches an assertion that received one of these statuses: `expected 200 "OK", got 502`, `expected 502 to equal 200`. */
function receivedStatus(statuses: string): RegExp {
  return new RegExp(
    String.raw`\b(?:got|received|but (?:was|is|found|saw)|actual(?: status)?:?|instead got)(?: (?:an?|HTTP|status|code)){0,3}:? ?[<"'(]?(?:${statuses})\b|\bexpected (${statuses}) to (?:be|equal|eql|deeply equal|strictly equal|===?) (?!\1)\d{3}\b|\bassert (${statuses}) == (?!\2)\d{3}\b`,
    'i',
  );
}

const outside: readonly Category[] = ['network-error', 'database-error', 'unknown'];
const all: readonly Category[] = [...outside, 'build-error', 'runtime-error', 'ui-error'];

/**
 * Rules for the second axis (CS-11); the first match wins. The axis says what the *fix* needs, so the words count only in classes
 * in which they can be the cause: a 403 that a test expects, or a locator that times out, needs code.
 */
export const retryRules: readonly RetryRule[] = [
  {
    id: 'retry/database-grant',
    axis: 'never_retry',
    categories: ['database-error'],
    pattern:
      /permission denied (?:for|to)\b|authentication failed|Access denied for user|Login failed for user|\bP10(?:00|10)\b|pg_hba\.conf|NOAUTH|must be owner of|Tenant or user not found|\bauth_failed\b|\b28(?:P01|000)\b|Passwort-Authentifizierung|autenti(?:fi)?caci[oó]n.{0,60}usuario|authentification par mot de passe|autenticação do tipo senha|认证失败|登录失败|認証に失敗/i,
  },
  {
    id: 'retry/identity',
    axis: 'never_retry',
    categories: ['network-error', 'unknown'],
    pattern:
      /\b401:? Unauthorized|^\s{0,20}40[13] (?:GET|POST|PUT|PATCH|DELETE) \/|\b403:? Forbidden|^(?:Error: )?(?:Unauthorized|Forbidden)\b|[Aa]uthentication failed|[Ii]nvalid (?:login )?credentials|[Ii]nvalid API key|[Aa]ccess denied|[Pp]ermission denied|→ 40[13]\b|(?:[Ss]tatus|[Rr]esponse)(?:[ _]?[Cc]ode)?\\?["']?(?: of|:|=)? ?40[13]\b|\b(?:HTTP(?:\/[\d.]{1,3}"?)?|[Ee]rror):? 40[13]\b|\binvalid_grant\b|JWT expired|[("':=\d] ?UNAUTHENTICATED\b|[Bb]ad credentials|\bNot (?:authori[sz]ed|authenticated)\b|(?:AuthenticationError|PermissionDeniedError|NotAuthorizedException|AccessDeniedException): /im,
    unless: /^> |\b[Ee]xpected|\bassert|UNAUTHENTICATED\)/,
  },
  {
    id: 'retry/quota',
    axis: 'never_retry',
    categories: ['network-error', 'unknown', 'ui-error'],
    pattern:
      /[Rr]ate limit(?: exceeded| reached|ed)|[Tt]oo [Mm]any (?:\w{1,20} )?(?:[Aa]ttempts|[Rr]equests)\b|[Qq]uota exceeded|[Ss]ubscription (?:has )?(?:expired|required|inactive|is not)|[Ll]icen[sc]e (?:key )?(?:has )?(?:expired|invalid|required|is)|status(?: ?code)?(?: of|:|=)? ?429\b|→ 429\b|\b402:? Payment Required|muitas (?:tentativas|solicitações)|demasiad[oa]s (?:intentos|solicitudes)|zu viele (?:versuche|anfragen|anmeldeversuche)|trop de (?:tentatives|requêtes)|troppi tentativi|billing/i,
    unless: /^> |\b[Ee]xpected|\bassert/,
  },
  {
    id: 'retry/received-refusal',
    axis: 'never_retry',
    categories: ['network-error', 'unknown'],
    // Only the received status counts: a refusal that the test expects but does not get needs a code change.
    pattern: receivedStatus('401|403|429'),
  },
  {
    id: 'retry/disk-and-memory',
    axis: 'env_error',
    categories: all,
    pattern:
      /exit(?:ed)?(?: with)?(?: code)?:? 137\b|\bENOSPC\b|no space left|disk (?:is )?full|disk quota|heap out of memory|near heap limit|OOMKilled|Cannot allocate memory|\bEMFILE\b|\bENOMEM\b|out of memory\b|Last few GCs|\bMark-(?:compact|sweep)\b|^Killed$|: {1,4}\d{1,7} Killed\b/im,
  },
  {
    id: 'retry/registry',
    axis: 'env_error',
    categories: all,
    pattern:
      /npm (?:ERR!|error) (?:network|code (?:E5\d\d|ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN))|ERR_PNPM_(?:META_)?FETCH|registry.{0,80}(?:unavailable|failed|timed out|ECONN|ENOTFOUND)|Failed to download|Download fail(?:ed|ure)|temporary failure/i,
  },
  {
    id: 'retry/database-unreachable',
    axis: 'env_error',
    categories: ['database-error'],
    pattern:
      /(?:database|role) "[^"\n]{1,80}" does not exist|\bECONN\w+|\bETIMEDOUT\b|\bENOTFOUND\b|\bEAI_AGAIN\b|[Cc]an't reach database server|[Cc]onnection refused|is locked|[Cc]onnection is not available|SQLITE_BUSY|BusyException|connection pool|pool (?:is )?(?:exhausted|full|probably full|timeout|timed out)|QueuePool limit|[Tt]oo many (?:connections|clients)|Connection terminated|\btimed out\b|[Tt]imeout (?:exceeded|acquiring)|statement timeout|the database system is|connection slots|max client|[Cc]ould not connect|[Cc]an't connect|gone away|CONNECTION_LOST|\bP(?:1001|1002|1008|1017|2024)\b|\bPGRST00[0-3]\b|Could not query the database for|ServerSelection|PrismaClientInitializationError|MongoNetwork|closed the connection|administrator command|connection to server|[Uu]nable to connect|[Ff]ailed to connect|[Tt]opology (?:was|is)|\bensure_connection\b|\bget_new_connection\b|No suitable servers|\b[Tt]imeout: [A-Z]|JDBC [Cc]onnection|lock timeout|Lock wait timeout|[Dd]eadlock (?:found|detected)|[Cc]ould not reach|client is offline|[Cc]ommunications link failure/,
    unless: /Transaction API/,
  },
  {
    id: 'retry/connection',
    axis: 'env_error',
    categories: ['network-error', 'unknown'],
    pattern:
      /\bECONN\w+|\bETIMEDOUT\b|\bENOTFOUND\b|\bEAI_AGAIN\b|\bE(?:HOST|NET)UNREACH\b|\bEPIPE\b|\bEADDR(?:INUSE|NOTAVAIL)\b|socket hang up|net::ERR_(?:CONNECTION|NAME|TIMED|INTERNET|ADDRESS|EMPTY|NETWORK|SOCKET|PROXY|TUNNEL|HTTP2|QUIC|DNS)\w*|NS_ERROR_(?:CONNECTION|NET|UNKNOWN_HOST|OFFLINE)\w*|connection (?:refused|(?:was )?reset|timed out|was lost|closed|terminated)|name resolution|could not connect|unable to connect|other side closed|no such host|\bgetaddrinfo\b|UND_ERR_\w{0,60}(?:TIMEOUT|SOCKET)|already (?:in use|allocated)|is already used|can.t establish a connection|could not resolve host|network is unreachable|Name or service not known|Max retries exceeded|Frame load interrupted|\bTypeError: (?:fetch failed|terminated)\b|\bSocketError\b|AxiosError: Network Error|net::err_failed at |upstream connect error|cannot connect to|\bERR_(?:SOCKET|NETWORK|CONNECTION|NAME_NOT|INTERNET|EMPTY|TIMED|ADDRESS)\w*|\bpremature close\b|server (?:did not|failed to|never) (?:start|respond|become)|could not verify that this server is running|request failed without a response/i,
  },
  {
    id: 'retry/no-answer',
    axis: 'env_error',
    categories: ['network-error', 'unknown'],
    pattern: /\btime(?:d )?-?\s?out\b|\bTimeout(?:Error|Exception)\b|DEADLINE_EXCEEDED/i,
    // A locator that never appeared says nothing about the machine, whatever happened to the page's requests.
    unless:
      /hook|[Ff]ixture|^(?:Error: )?Test timeout of|\b(?:locator|elementHandle|frameLocator)\.\w{1,40}: |\bpage\.(?:click|fill|check|hover|press|type|tap|selectOption|waitForSelector): |\b[Ee]xpect\b|^\s{0,20}Timeout: +\d|waiting on the predicate/,
  },
  {
    id: 'retry/service-down',
    axis: 'env_error',
    categories: outside,
    pattern:
      /bad gateway|service (?:temporarily )?unavailable|gateway time-?out|\b(?:failed|failure|error|answered|response)\b[^\w\n]{0,4}50[234]\b|→ 50[234]\b|status(?: ?code)?(?: of|:|=)? ?50[234]\b|\b(?:responded|returned|received|replied)(?: (?:with|an?|HTTP|status|code|error)){0,5}:? 50[234]\b|HTTP(?:\/[\d.]+)? 50[234]\b|temporarily unavailable|\bUNAVAILABLE\b/i,
    unless: /^> |\b[Ee]xpected|\bassert/,
  },
  {
    id: 'retry/received-outage',
    axis: 'env_error',
    categories: outside,
    pattern: receivedStatus('502|503|504'),
  },
  {
    id: 'retry/browser-or-machine',
    axis: 'env_error',
    categories: ['unknown'],
    pattern:
      /exit(?:ed)?(?: with)?(?: code)?:? 13[2459]\b|lost communication|crashed|has been closed|Target closed|disconnected|browser (?:was )?closed|executable doesn't exist|failed to launch|missing dependencies|shared libraries|missing a few dependencies|operation was canceled|playwright install|worker (?:process )?exited|forks emitted error|waiting for the WS endpoint|open X display|a XServer|no such session\b|invalid session id|<launch(?:ing|ed)> |\[pid=\d+\]\[err\]|\bSIG(?:SEGV|ABRT|KILL|TRAP|BUS)\b|sandboxing|X server|distribution '|just installed or updated|browserType\.(?:launch|connect)|Session closed|not bound in the connection|while setting up "(?:browser|context|page)"|Playwright connection closed|DevToolsActivePort|unable to launch|Could not find Chrome|session not created|not connected to DevTools|resource temporarily unavailable|docker daemon|container runtime|response from daemon|dependency failed to start: container|\bspawn \S{0,200}(?:chrom|firefox|webkit|playwright)\S{0,100} (?:ENOENT|EACCES)/i,
  },
];
