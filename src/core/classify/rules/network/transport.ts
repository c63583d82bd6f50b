import { rulesFor } from '../../rule.js';

/** Connections that were refused, cut, not found or not trusted. */
export const transportRules = rulesFor('network-error', [
  {
    id: 'network/browser-code',
    words: ['net::err_', 'ns_error_', 'ssl_error_'],
    pattern:
      /\bnet::ERR_(?!ABORTED|BLOCKED_BY_CLIENT|FILE_NOT_FOUND|UNKNOWN_URL_SCHEME|CACHE)\w+|\bNS_ERROR_(?!ABORT|DOM)\w+|\bSSL_ERROR_\w+/,
    confidence: 0.92,
  },
  {
    id: 'network/aborted',
    words: ['net::err_aborted', 'ns_binding_aborted', 'net::err_file_not_found'],
    // In the console and the request list an abort is what every navigation leaves behind.
    pattern: /\bnet::ERR_ABORTED|\bNS_BINDING_ABORTED|net::ERR_FILE_NOT_FOUND/,
    sources: ['error'],
    confidence: 0.8,
  },
  {
    id: 'network/socket-code',
    words: [
      'econn',
      'etimedout',
      'enotfound',
      'eai_again',
      'ehostunreach',
      'enetunreach',
      'epipe',
      'und_err_',
      'socket hang up',
      'other side closed',
      'getaddrinfo',
      'connecttimeouterror',
      'err_socket',
      'err_network',
    ],
    pattern:
      /\bECONN(?:REFUSED|RESET|ABORTED)\b|\bETIMEDOUT\b|\bENOTFOUND\b|\bEAI_AGAIN\b|\bEHOSTUNREACH\b|\bENETUNREACH\b|\bEPIPE\b|\bUND_ERR_\w+|\bConnectTimeoutError\b|socket hang up|other side closed|\bgetaddrinfo \w|\bERR_(?:SOCKET|NETWORK)\w*/,
    confidence: 0.88,
  },
  {
    id: 'network/connection-words',
    words: [
      'connection was reset',
      'no route to host',
      'upstream',
      'esockettimedout',
      'connection refused',
      'connection reset',
      'connection was lost',
      'could not connect',
      'unable to connect',
      'connection timed out',
      'connectexception',
      'unknownhost',
      'no such host',
      'name or service not known',
      'name resolution',
      'max retries exceeded',
      'econnrefused',
      'connectionerror',
      'connection failed',
      'network is unreachable',
      'readtimeout',
      'could not resolve host',
      'net::opentimeout',
      'connection closed',
      'failed to connect',
    ],
    pattern:
      /[Nn]o route to host|upstream connect error|no healthy upstream|\bESOCKETTIMEDOUT\b|[Cc]onnection refused|[Cc]onnection (?:was )?reset(?: by peer)?|connection was lost|[Cc]ould not connect(?: to|:)|[Uu]nable to connect|[Cc]onnection timed out|\bConnectException\b|\bUnknownHost|[Nn]o such host|Name or service not known|[Nn]ame resolution|Max retries exceeded|\bConnectionError\b|[Nn]etwork is unreachable|\bReadTimeout\b|[Cc]ould not resolve host|\bNet::OpenTimeout\b|[Ff]ailed to connect to/,
    unless: /websocket|\[vite\]|debugg|browser(?:Type)?\.connect|bus|dbus/i,
    confidence: 0.78,
  },
  {
    id: 'network/fetch',
    words: [
      'failed to fetch',
      'fetch failed',
      'networkerror when',
      'load failed',
      'network error',
      'network request failed',
      'fetcherror',
      'networkerror',
      'authretryablefetcherror',
    ],
    pattern:
      /\b[Ff]ailed to fetch\b|\bfetch failed\b|NetworkError when attempting|\bLoad failed\b|\bNetwork ?Error\b|Network request failed|\b(?:Auth\w{0,20})?FetchError\b/,
    unless: /dynamically imported|font|source ?map/i,
    confidence: 0.85,
  },
  {
    id: 'network/cors',
    words: [
      'blocked by cors',
      'blocked a frame',
      'cors ',
      'cross-origin request blocked',
      'access-control-allow',
      'content security policy',
      'mixed content:',
      'cross-origin',
    ],
    pattern:
      /blocked by CORS|\bCORS (?:policy|error|request|preflight|header)|Cross-Origin Request Blocked|Access-Control-Allow-\w+|Refused to (?:connect|frame|load|execute)\b.{0,300}Content Security Policy|Connecting to .{0,200} violates the following Content Security Policy|Mixed Content: |blocked a frame with origin/i,
    confidence: 0.9,
  },
  {
    id: 'network/tls',
    words: [
      'unable_to_verify',
      '_cert',
      'certificate_verify',
      'certificate',
      'ssl',
      'tls',
      'cert_',
      'eproto',
    ],
    pattern:
      /CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|unable to (?:verify the first|get local issuer) certificate|certificate (?:has expired|verify failed|is not trusted|is not yet valid)|UNABLE_TO_VERIFY_LEAF_SIGNATURE|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|\bERR_(?:SSL|TLS|CERT)_\w+|match certificate's altnames|SSL routines|\bEPROTO\b|\bCERT_\w+|SSL(?:Error| peer| certificate problem| handshake)|TLS handshake|tlsv1 alert/i,
    unless: /digital envelope/,
    confidence: 0.9,
  },
  {
    id: 'network/proxy',
    words: ['proxy'],
    pattern:
      /http proxy error: |[Ee]rror occurred while (?:trying to )?proxy|proxy(?:ing)? error|Could not proxy request|Failed to proxy|ws proxy (?:socket )?error/i,
    confidence: 0.85,
  },
  {
    id: 'network/websocket',
    words: [
      'websocket is closed',
      'websocket handshake',
      'websocket connection to',
      'websocket error',
      'unexpected server response',
    ],
    pattern:
      /WebSocket is closed before|during WebSocket handshake|WebSocket connection to '\S{1,200}' failed|Unexpected server response: \d{3}|WebSocket error:/,
    unless: /_next\/webpack-hmr|\/@vite|\?token=|hmr|sockjs|\/ws'/i,
    confidence: 0.72,
  },
  {
    id: 'network/download',
    words: ['download', 'npm err', 'npm error', 'err_pnpm', 'registry'],
    pattern:
      /Failed to download \S|Download fail(?:ed|ure)|Error: Download (?:failed|of)|npm (?:ERR!|error) (?:network|code (?:E4\d\d|E5\d\d|ECONN|ETIMEDOUT|ENOTFOUND))|ERR_PNPM_(?:META_)?FETCH|registry\.\S{3,60} .{0,60}(?:failed|timed out)/,
    unless: /saveAs|download\.path/,
    confidence: 0.8,
  },
]);
