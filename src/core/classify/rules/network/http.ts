import { rulesFor } from '../../rule.js';

/** Error responses, however a program words the status. */
export const httpRules = rulesFor('network-error', [
  {
    id: 'network/own-request-5xx',
    pattern: /^(?:xhr|fetch|document|other|eventsource|websocket|api) [A-Z]+ \S+ → 5\d\d/m,
    sources: ['network'],
    confidence: 0.88,
  },
  {
    id: 'network/own-request-4xx',
    pattern: /^(?:xhr|fetch|document|other|eventsource|websocket) [A-Z]+ \S+ → 4\d\d/m,
    unless: /(?:\/(?:me|session|whoami|user|profile|refresh|token)\b\S* → 40[13])/,
    sources: ['network'],
    // Above the words of a status: a page that only says `404 Not Found` tells less than the address.
    confidence: 0.81,
  },
  {
    id: 'network/refused-to-test',
    // Of the 4xx answers to a test's own requests, the evidence text contains only the one that made the test fail.
    pattern: /^api [A-Z]+ \S+ → 4\d\d/m,
    sources: ['network'],
    confidence: 0.84,
  },
  {
    id: 'network/host-not-allowed',
    // Rails, webpack-dev-server, Vite and Django answer every request to a host that their config does not list with this.
    pattern:
      /\bBlocked hosts?: \S|\bInvalid Host header\b|\bBlocked request\. This host\b|\bInvalid HTTP_HOST header\b/,
    confidence: 0.9,
  },
  {
    id: 'network/missing-file',
    // A script that no build produces, requested at a wrong URL.
    pattern: /^script GET \S+ → (?:404|2\d\d with text\/html)/m,
    sources: ['network'],
    confidence: 0.74,
  },
  {
    id: 'network/own-request-signed-out',
    // Pages ask who is signed in, and for visitors the answer is 401.
    pattern: /\/(?:me|session|whoami|user|profile|refresh|token)\b\S* → 40[13]/,
    sources: ['network'],
    confidence: 0.5,
  },
  {
    id: 'network/own-request-failed',
    pattern: /^\w+ [A-Z]+ \S+ → (?:net::ERR_(?!ABORTED|BLOCKED_BY_CLIENT|CACHE)\w+|NS_ERROR_\w+|[A-Z]\w+ )/m,
    sources: ['network'],
    confidence: 0.88,
  },
  {
    id: 'network/own-request-unanswered',
    pattern: /^(?:xhr|fetch|document) [A-Z]+ \S+ → no answer/m,
    sources: ['network'],
    confidence: 0.74,
  },
  {
    id: 'network/status-words',
    pattern:
      /\b(?:400:? Bad Request|401:? Unauthorized|403:? Forbidden|404:? Not Found|405:? Method Not Allowed|408:? Request Time-?out|409:? Conflict|413:? (?:Payload|Content|Request Entity) Too Large|415:? Unsupported Media|422:? Unprocessable|429:? Too Many Requests|50[0-9]:? (?:Internal Server Error|Not Implemented|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out))|["':] ?(?:Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout)\b|^(?:Error: )?(?:Internal Server Error|Bad Gateway|Service Unavailable|Too Many Requests)$/im,
    unless: /favicon|\.map\b|Failed to load resource/,
    confidence: 0.8,
  },
  {
    id: 'network/status-number',
    pattern:
      /\b(?:40[0134]|429|50\d) [Ee]rror\b|does not indicate success|\breturned (?:an? |HTTP |status |code |error ){0,4}[45]\d\d\b|"code\\?" ?: ?(?:4[0-2]\d|50[0-4])\b|\bERR_BAD_RE(?:SPONSE|QUEST)\b|(?:\b|http|response|error)[ _]?status(?:[ _]?code)?\\?["']?(?: of| was| is|:|=)?\s{0,3}["']?[45]\d\d\b|\bHTTP(?:\/[\d.]{1,3}|[ _]?(?:[Ee]rror|[Ss]tatus|[Cc]ode))?:?\s{0,3}[45]\d\d\b|\bresponded with(?: a)?(?: status)?(?: code)?(?: of)?:? [45]\d\d\b|StatusCodeError: \d{3}|response(?: code| status)? (?:was|is|code:?) [45]\d\d\b|received HTTP status|\bnon-2xx\b/i,
    unless: /favicon|\.map\b|Failed to load resource|MIME/,
    confidence: 0.82,
  },
  {
    id: 'network/console-resource',
    pattern:
      /Failed to load resource: (?:the server responded with a status of [45]\d\d|Timeout was|The |Could not|A server|An SSL)/i,
    unless: /favicon|\.map\b|\.(?:png|jpe?g|gif|svg|webp|ico|woff2?|ttf)\b/,
    confidence: 0.74,
  },
  {
    id: 'network/access-log',
    pattern:
      /\b(?:GET|POST|PUT|PATCH|DELETE)\b["']? ["']?(?:https?:\/\/[^\s"']{1,300}|\/[^\s"']{0,300})["']?(?: HTTP\/[\d.]{1,3}["']?)?[ :→\->]{1,6}(?:status:? )?5\d\d\b(?!\.\d| ?[mnuµμ]?s\b)|^\s{0,20}5\d\d (?:GET|POST|PUT|PATCH|DELETE) |\b(?:GET|POST|PUT|PATCH|DELETE) (?:https?:\/\/\S{1,300}|\/\S{0,300})[ :→\->]{1,6}4\d\d \(/m,
    unless: /favicon|\.map\b/,
    sources: ['error', 'console', 'server'],
    confidence: 0.76,
  },
  {
    id: 'network/access-log-refused',
    // An access log line in the error itself that shows a refused request.
    pattern:
      /^\s{0,20}4[0-2]\d (?:GET|POST|PUT|PATCH|DELETE) \/|\b(?:GET|POST|PUT|PATCH|DELETE) (?:https?:\/)?\/\S{0,300}(?: HTTP\/[\d.]{1,3}["']?)? 4[0-2]\d\b/m,
    sources: ['error'],
    unless: /favicon|\.map\b/,
    confidence: 0.5,
  },
  {
    id: 'network/status-in-prose',
    // A status as people write it: `failed: 503`, `500 on /cart`, `… (404)`. Other numbers rarely appear in these places.
    pattern:
      /\b(?:failed|failure|error|answered|answer|response|status)\b[^\w\n]{0,4}(?:40\d|41\d|422|429|50[0-4])\b|→ (?:40\d|41\d|422|429|50[0-4])\b|^\s{0,20}(?:40\d|422|429|50[0-4]) (?:on|from|for|at|when) |\S \((?:40\d|422|429|50[0-4])\)\s*$/im,
    sources: ['error'],
    confidence: 0.46,
  },
  {
    id: 'network/client-library',
    pattern:
      /\bAxiosError\b|[Rr]equest failed with (?:status|response)|\bHTTPError\b|\bApiError\b|\bAPI (?:[Ee]rror|request failed|call failed)|[Rr]ate limit (?:exceeded|reached)|\bTRPC(?:Client)?Error\b|[Ii]nvalid API [Kk]ey|\bJWT expired|Invalid login credentials|\bDEADLINE_EXCEEDED\b|\bUNAVAILABLE: |\bAuthApiError\b|\binvalid_grant\b|failed with status|aborted due to timeout|\bUNAUTHENTICATED\b|[Qq]uota exceeded|[Tt]oo many (?:\w{1,20} )?(?:attempts|requests)\b|^(?:Error: )?Unauthorized\b/m,
    confidence: 0.78,
  },
  {
    id: 'network/service-error-name',
    // Error names of service clients.
    pattern:
      /\b\w{0,40}(?:AuthenticationError|AuthorizationError|PermissionDeniedError|RateLimitError|APIConnectionError|NotAuthorized(?:Exception|Error)|AccessDenied(?:Exception|Error)?|UnauthorizedError|ForbiddenError|ThrottlingException|ServiceUnavailable(?:Exception|Error)): /,
    confidence: 0.74,
  },
  {
    id: 'network/status-assertion',
    pattern:
      /expect\((?:response|received|apiResponse)\)\.(?:not\.)?toBeOK|^> .{0,200}\bexpect\b.{0,120}(?:\.status(?:Code|\(\)|\b(?=.{1,80}\b[1-5]\d\d\b))|\.ok\(\))|expected (?:status(?: code)? )?[1-5]\d\d\b(?: "[\w ]{1,30}")?,? (?:but )?(?:got|to (?:equal|be|deeply equal)) [1-5]\d\d\b|Expected (?:HTTP )?status(?: code)?\b.{0,40}[1-5]\d\d|assert [1-5]\d\d == [1-5]\d\d|(?:^|\s)status(?:Code)?: expected|unexpected (?:response |HTTP )?status(?: code)?\b/im,
    confidence: 0.82,
  },
  {
    id: 'network/status-values',
    // `without-quotes.ts` writes this line if a plain matcher compared two HTTP statuses.
    pattern: /^Expected status-like \d{3}, received \d{3}$/m,
    sources: ['error'],
    confidence: 0.72,
  },
  {
    id: 'network/graphql',
    // A GraphQL response that only says that it failed; the root cause may be elsewhere in it. It says more than a status of 400.
    pattern:
      /\bcode["']?: ?["'](?:INTERNAL_SERVER_ERROR|UNAUTHENTICATED|FORBIDDEN|BAD_USER_INPUT|BAD_REQUEST|GRAPHQL_\w+|PERSISTED_QUERY_\w+|UNAUTHORIZED|TOO_MANY_REQUESTS|NOT_FOUND)["']|\bGraphQL error(?: [\w-]{1,60}|\])?: |\b(?:ApolloError|CombinedGraphQLErrors|ServerParseError): /,
    confidence: 0.82,
  },
  {
    id: 'network/cypress',
    pattern:
      /cy\.(?:visit|request)\(\) failed|`?cy\.wait\(\)`? timed out waiting .{0,80}(?:request|response)|`cy\.(?:visit|request)\(\)` failed/i,
    confidence: 0.88,
  },
]);
