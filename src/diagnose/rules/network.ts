import { certain, likely, weak } from '../../model/diagnosis.js';
import { createRules } from '../rule.js';

/** A request failed, was answered with an error, or was not answered in time (CS-5). */
export const networkRules = createRules('network-error', {
  'network/connection': [
    certain,
    // Browser and Node error codes, and certificates that are not trusted.
    /\bnet::ERR_(?!ABORTED|BLOCKED_BY_CLIENT|FILE_NOT_FOUND|UNKNOWN_URL_SCHEME|CACHE)\w+|\bERR_(?:CONNECTION_\w+|NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|ADDRESS_\w+|EMPTY_RESPONSE|TOO_MANY_REDIRECTS|TIMED_OUT|SSL_\w+|CERT_\w+)\b|\bNS_ERROR_(?!ABORT|DOM)\w+|\bSSL_ERROR_\w+|\bECONN(?:REFUSED|RESET|ABORTED)\b|\bETIMEDOUT\b|\bENOTFOUND\b|\bEAI_AGAIN\b|\bEHOSTUNREACH\b|\bENETUNREACH\b|\bEPIPE\b|\bUND_ERR_\w+|\bTypeError: terminated\b|socket hang up|other side closed|\bgetaddrinfo \w|\bERR_(?:SOCKET|NETWORK)\w*|self[- ]signed certificate|unable to (?:verify the first|get local issuer) certificate|certificate (?:has expired|verify failed|signed by unknown authority|is not trusted)|UNABLE_TO_VERIFY_LEAF_SIGNATURE|match certificate's altnames|SSL routines|\bEPROTO\b|CERTIFICATE_VERIFY_FAILED|TLS handshake/i,
  ],
  'network/policy': [
    certain,
    // Requests that the browser blocks because of a header or the page's own URL (CORS, Content-Security-Policy, framing, mixed content), and a
    // server's response to a host that is not on its list.
    /blocked by CORS|\bCORS (?:policy|error|request|preflight|header)|Cross-Origin Request Blocked|Access-Control-Allow-\w+|(?:Refused to (?:connect|frame|load|execute|apply|send|create|run)|Connecting to|Framing|Loading|Executing)\b.{0,300}Content Security Policy|Content-Security-Policy: .{0,80}blocked|Mixed Content: |mixed active content|blocked a frame with origin|Refused to display '|[Bb]locked because of a permissions policy|[Pp]ermissions policy violation|Refused to get unsafe header|\bBlocked hosts?: \S|\bInvalid Host header\b|\bBlocked request\. This host\b|\bInvalid HTTP_HOST header\b/i,
  ],
  'network/own-request-failed': [
    certain,
    // Of the 4xx responses to a test's own requests, the evidence text contains only the one that made the test fail.
    /^(?:xhr|fetch|document|other|eventsource|websocket|api) [A-Z]+ \S+ → 5\d\d|^\w+ [A-Z]+ \S+ → 5\d\d with JSON|^api [A-Z]+ \S+ → 4\d\d|^\w+ [A-Z]+ \S+ → (?:net::ERR_(?!ABORTED|BLOCKED_BY_CLIENT|CACHE)\w+|NS_ERROR_\w+|[A-Z]\w+ )/m,
    { in: ['network'] },
  ],
  'network/graphql': [
    certain,
    // A generic GraphQL error, whose root cause may be elsewhere in the response. It is more informative than a status of 400.
    /\bcode["']?: ?["'](?:INTERNAL_SERVER_ERROR|UNAUTHENTICATED|FORBIDDEN|BAD_USER_INPUT|BAD_REQUEST|GRAPHQL_\w+|UNAUTHORIZED|NOT_FOUND)["']|\bGraphQL error(?: [\w-]{1,60}|\])?: |\b(?:ApolloError|CombinedGraphQLErrors|ServerParseError): /,
  ],
  'network/own-request-4xx': [
    likely,
    // Also a script at a wrong URL, and a request without a response. Not 401: pages ask who is signed in, and get 401 for visitors.
    /^(?:xhr|fetch|document|other|eventsource|websocket) [A-Z]+ \S+ → 4\d\d|^(?:script|stylesheet) GET \S+ → (?:404|2\d\d with text\/html)|^(?:xhr|fetch) [A-Z]+ \S+ → 2\d\d with text\/html|^(?:xhr|fetch|document) [A-Z]+ \S+ → no answer/m,
    { in: ['network'], unless: /\/(?:me|session|whoami|user|profile|refresh|token)\b\S* → 40[13]/ },
  ],
  'network/fetch': [
    likely,
    /\bfailed to fetch\b|\bfetch failed\b|NetworkError when attempting|\bLoad failed\b|\bNetwork ?Error\b|Network request failed|\bPremature close\b|\bFetchError\b/i,
    { unless: /dynamically imported|font|source ?map/i },
  ],
  'network/client': [
    likely,
    // HTTP clients in several languages, and service clients.
    /\bAxiosError\b|request failed with (?:status|response)|response code:? [45]\d\d\b|\bHTTPError\b|\bApiError\b|\bAPI (?:error|request failed|call failed)|\brequests\.exceptions\.|\bhttpx\.\w*(?:Error|Timeout|Exception)|\baiohttp\.\w*(?:Error|exceptions)|urllib\d?\.(?:error|exceptions)\.|\bHttpRequestException\b|\bjava\.net\.\w{2,40}Exception|\bcURL error \d+|\bcurl: \(\d+\)|\bdial tcp\b|\bi\/o timeout\b|\bTRPC(?:Client)?Error\b|rate limit (?:exceeded|reached)|too many (?:\w{1,20} )?(?:attempts|requests)\b|quota exceeded|invalid API key|\bJWT expired|Invalid login credentials|\binvalid_grant\b|\bAuthApiError\b|^(?:Error: )?Unauthorized\b|http proxy error: |error occurred while (?:trying to )?proxy|Could not proxy request|Failed to proxy/im,
  ],
  'network/status': [
    likely,
    /\b(?:400:? Bad Request|401:? Unauthorized|403:? Forbidden|404:? Not Found|405:? Method Not Allowed|409:? Conflict|413:? (?:Payload|Content|Request Entity) Too Large|422:? Unprocessable|429:? Too Many Requests|50[0-9]:? (?:Internal Server Error|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out))|["':] ?(?:Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout)\b|^(?:Error: )?(?:Internal Server Error|Bad Gateway|Service Unavailable|Too Many Requests)$|\b(?:40[0134]|429|50\d) error\b|does not indicate success|\breturned (?:an? |HTTP |status |code |error ){0,4}[45]\d\d\b|"code\\?" ?: ?(?:4[0-2]\d|50[0-4])\b|\bERR_BAD_RE(?:SPONSE|QUEST)\b|(?:\b|http|response|error)[ _]?status(?:[ _]?code)?\\?["']?(?: of| was| is|:|=)?\s{0,3}["']?[45]\d\d\b|\bHTTP(?:\/[\d.]{1,3}|[ _]?(?:error|status|code))?:?\s{0,3}[45]\d\d\b|\bresponded with(?: a)?(?: status)?(?: code)?(?: of)?:? [45]\d\d\b|response(?: code| status)? (?:was|is|code:?) [45]\d\d\b|\bnon-2xx\b/im,
    { unless: /favicon|\.map\b|Failed to load resource|MIME/ },
  ],
  'network/status-assertion': [
    likely,
    // `without-quotes.ts` writes `Expected status-like` if a plain matcher compared two HTTP statuses.
    /expect\((?:response|received|apiResponse)\)\.(?:not\.)?toBeOK|^> .{0,200}\bexpect\b.{0,120}(?:\.status(?:Code|\(\)|\b(?=.{1,80}\b[1-5]\d\d\b))|\.ok\(\))|^Expected status-like \d{3}, received \d{3}$|expected (?:status(?: code)? )?[1-5]\d\d\b(?: "[\w ]{1,30}")?,? (?:but )?(?:got|to (?:equal|be|deeply equal)) [1-5]\d\d\b|Expected (?:HTTP )?status(?: code)?\b.{0,40}[1-5]\d\d|assert [1-5]\d\d == [1-5]\d\d|unexpected (?:response |HTTP )?status(?: code)?\b/im,
  ],
  'network/console-resource': [
    likely,
    /Failed to load resource: (?:the server responded with a status of [45]\d\d|Timeout was|The |Could not|A server|An SSL)/i,
    { unless: /favicon|\.map\b|\.(?:png|jpe?g|gif|svg|webp|ico|woff2?|ttf)\b/ },
  ],
  'network/connection-words': [
    likely,
    /connection refused|connection (?:was )?reset(?: by peer)?|connection was lost|could not connect(?: to|:)|unable to connect|connection timed out|no such host|Name or service not known|name resolution|Max retries exceeded|\bConnectionError\b|network is unreachable|could not resolve host|failed to connect to|cannot connect to the|access control checks|Frame load interrupted/i,
    { unless: /websocket|\[vite\]|debugg|browser(?:Type)?\.connect|bus|docker/i },
  ],
  'network/stream': [
    likely,
    /WebSocket is closed before|during WebSocket handshake|WebSocket connection to '\S{1,200}' failed|Unexpected server response: \d{3}|can.t establish a connection to the server|EventSource's response has /i,
    { unless: /\/@vite|\?token=|hmr|sockjs|\/ws'/i },
  ],
  'network/api-request': [
    likely,
    /\b(?:apiRequestContext|APIRequestContext|route)\.\w{1,20}: |\brequest\.(?:get|post|put|patch|delete|fetch|head): |request timed out/i,
    { unless: /Target (?:page|closed)|has been closed|is not a function|already handled/ },
  ],
  'network/response-timeout': [
    likely,
    /\bwaitFor(?:Response|Request): (?:Page|Browser|Target) .{0,20}closed|^(?:Error: |AxiosError: )?timeout of \d+ms exceeded|\b(?:waitFor|expect_|wait_for_)_?(?:[Rr]esponse|[Rr]equest)\w*\b.{0,30}[Tt]imeout|while waiting for event (?:"(?:response|request\w*)"|$)/m,
  ],
  'network/web-server-unreachable': [
    likely,
    /Timed out waiting (?:\d+ms )?from config\.webServer|Timed out waiting for: |waiting (?:for|on) https?:\/\/\S{1,200} .{0,40}tim(?:ed|e) ?out|\bEADDR(?:INUSE|NOTAVAIL)\b|\blisten EACCES\b|Address already in use|is already used, make sure that nothing is running|port (?:\d{2,5} )?is already allocated|port \d{2,5} (?:is )?(?:already )?(?:in use|used|allocated|occupied|not available|unavailable)|server (?:did not|failed to|never) (?:start|respond|become)|verify that (?:the|your|this) server is running/i,
    { unless: /trying another|using (?:available )?port|instead/i },
  ],
  'network/navigation': [
    likely,
    /\b(?:page|frame)\.(?:goto|reload|go_?back|go_?forward)(?:Async)?: \S|\b(?:page|frame)\.wait_?for_?load_?state\b.{0,20}?time(?:d | )?out|Navigation Timeout(?: of \d+ ?ms)? Exceeded|interrupted by another navigation|Cannot navigate to invalid URL|Navigation to ".{1,300}" (?:failed|was canceled)|timed out.{0,60}(?:page load|navigation)/i,
    {
      unless:
        /crashed|has been closed|Target (?:page, context or browser )?closed|Test ended|is not a function|expected string|disconnected|Execution context/i,
    },
  ],
  'network/awaited-navigation': [
    likely,
    // The app may be at fault: a router changes the URL without a request.
    /waiting for navigation (?:to|until|")|waiting for ".{1,200}" navigation|\b(?:page|frame)\.(?:wait_?for_?(?:navigation|url)|expect_navigation)\b.{0,200}?time(?:d? )?out\b/i,
    { unanswered: true },
  ],
  'network/access-log': [
    likely,
    /\b(?:GET|POST|PUT|PATCH|DELETE)\b["']? ["']?(?:https?:\/\/[^\s"']{1,300}|\/[^\s"']{0,300})["']?(?: HTTP\/[\d.]{1,3}["']?)?[ :→\->]{1,6}(?:status:? )?5\d\d\b(?!\.\d| ?[mnuµμ]?s\b)|^\s{0,20}5\d\d (?:GET|POST|PUT|PATCH|DELETE) |\b(?:GET|POST|PUT|PATCH|DELETE) (?:https?:\/\/\S{1,300}|\/\S{0,300})[ :→\->]{1,6}4\d\d \(/m,
    { in: ['error', 'console', 'server'], unless: /favicon|\.map\b/ },
  ],
  'network/navigating': [
    weak,
    /\bpage\.goto\(.{0,300}\)|^\s{0,20}-?\s{0,9}navigating to "?\S{1,300}"?, waiting until/m,
    { in: ['error'] },
  ],
});
