import { rulesFor } from '../../rule.js';

/** Connections that were refused, dropped, not found or not trusted. */
export const transportRules = rulesFor('network-error', [
  {
    id: 'network/browser-code',
    pattern:
      /\bnet::ERR_(?!ABORTED|BLOCKED_BY_CLIENT|FILE_NOT_FOUND|UNKNOWN_URL_SCHEME|CACHE)\w+|\bERR_(?:CONNECTION_\w+|NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|ADDRESS_\w+|EMPTY_RESPONSE|TOO_MANY_REDIRECTS|TIMED_OUT|HTTP2_PROTOCOL_ERROR|CERT_\w+)\b|\bNS_ERROR_(?!ABORT|DOM)\w+|\bSSL_ERROR_\w+/i,
    confidence: 0.92,
  },
  {
    id: 'network/aborted',
    // Only in the test's error: in the console and the request list, every navigation leaves aborted requests behind.
    pattern: /\bnet::ERR_ABORTED|\bNS_BINDING_ABORTED|net::ERR_FILE_NOT_FOUND/i,
    sources: ['error'],
    confidence: 0.8,
  },
  {
    id: 'network/socket-code',
    pattern:
      /\bECONN(?:REFUSED|RESET|ABORTED)\b|\bETIMEDOUT\b|\bENOTFOUND\b|\bEAI_AGAIN\b|\bEHOSTUNREACH\b|\bENETUNREACH\b|\bEPIPE\b|\bUND_ERR_\w+|\bConnectTimeoutError\b|\bSocketError\b|\bTypeError: terminated\b|socket hang up|other side closed|\bgetaddrinfo \w|\bERR_(?:SOCKET|NETWORK)\w*/i,
    confidence: 0.88,
  },
  {
    id: 'network/connection-words',
    pattern:
      /no route to host|upstream connect error|no healthy upstream|\bESOCKETTIMEDOUT\b|connection refused|connection (?:was )?reset(?: by peer)?|connection was lost|could not connect(?: to|:)|unable to connect|connection timed out|\bConnectException\b|\bUnknownHost|no such host|Name or service not known|name resolution|Max retries exceeded|\bConnectionError\b|network is unreachable|\bReadTimeout\b|could not resolve host|\bNet::OpenTimeout\b|failed to connect to|cannot connect to the/i,
    unless: /websocket|\[vite\]|debugg|browser(?:Type)?\.connect|bus|docker/i,
    confidence: 0.78,
  },
  {
    id: 'network/fetch',
    pattern:
      /\bfailed to fetch\b|\bfetch failed\b|NetworkError when attempting|\bLoad failed\b|\bNetwork ?Error\b|Network request failed|\bPremature close\b|\b(?:Auth\w{0,20})?FetchError\b/i,
    unless: /dynamically imported|font|source ?map/i,
    confidence: 0.85,
  },
  {
    id: 'network/cors',
    pattern:
      /blocked by CORS|\bCORS (?:policy|error|request|preflight|header)|Cross-Origin Request Blocked|Access-Control-Allow-\w+|(?:Refused to (?:connect|frame|load|execute)|Connecting to|Framing|Loading|Executing)\b.{0,300}Content Security Policy|Content-Security-Policy: .{0,80}blocked|Mixed Content: |mixed active content|requested insecure content|blocked a frame with origin/i,
    confidence: 0.9,
  },
  {
    id: 'network/tls',
    pattern:
      /CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|unable to (?:verify the first|get local issuer) certificate|certificate (?:has expired|verify failed|signed by unknown authority|is not trusted|is not yet valid)|UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT|\bERR_(?:SSL|TLS|CERT)_\w+|match certificate's altnames|SSL routines|\bEPROTO\b|\bCERT_\w+|SSL(?:Error| peer| certificate problem| handshake)|TLS handshake|tlsv1 alert/i,
    unless: /digital envelope/,
    confidence: 0.9,
  },
  {
    id: 'network/proxy',
    pattern:
      /http proxy error: |[Ee]rror occurred while (?:trying to )?proxy|proxy(?:ing)? error|Could not proxy request|Failed to proxy|ws proxy (?:socket )?error/i,
    confidence: 0.85,
  },
  {
    id: 'network/stream',
    pattern:
      /WebSocket is closed before|during WebSocket handshake|WebSocket connection to '\S{1,200}' failed|Unexpected server response: \d{3}|WebSocket error:|can.t establish a connection to the server|EventSource's response has /i,
    unless: /\/@vite|\?token=|hmr|sockjs|\/ws'/i,
    confidence: 0.72,
  },
  {
    id: 'network/download',
    pattern:
      /Failed to download \S|Download fail(?:ed|ure)|Error: Download (?:failed|of)|npm (?:ERR!|error) (?:network|code (?:E4\d\d|E5\d\d|ECONN|ETIMEDOUT|ENOTFOUND))|ERR_PNPM_(?:META_)?FETCH|registry\.\S{3,60} .{0,60}(?:failed|timed out)/i,
    unless: /saveAs|download\.path/,
    confidence: 0.8,
  },
]);
