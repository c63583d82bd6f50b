import { rulesFor } from '../../rule.js';

/** Failed requests as HTTP clients of all languages report them. */
export const clientRules = rulesFor('network-error', [
  {
    id: 'network/client-exception',
    pattern:
      /response code:? [45]\d\d\b|ERR_NON_2XX_3XX|\brequests\.exceptions\.|\bhttpx\.\w*(?:Error|Timeout|Exception)|\baiohttp\.\w*(?:Error|exceptions)|\burllib3\.exceptions|urllib\.error\.|\bHttpRequestException\b|System\.Net\.(?:WebException|Sockets)|\bjava\.net\.\w{2,40}Exception|\bFaraday::\w+Error|\bNet::(?:Read|Open|HTTP)\w+|\bErrno::E(?:CONN|HOST|NET|TIMED)\w*|GuzzleHttp\\Exception|\bcURL error \d+|\bcurl: \(\d+\)|\bdial tcp\b|\bi\/o timeout\b|\breqwest::Error|\bHttp(?:Client|Server)ErrorException\b|\bResourceAccessException\b|\bFeignException\b|\bWebClientResponseException\b|\bMint\.TransportError|\bHTTPoison\.Error|Response not successful|\bClientException with SocketException|\bSocketException: /i,
    confidence: 0.84,
  },
  {
    id: 'network/page-navigation',
    // A failed navigation with a browser's own message (WebKit has many).
    pattern:
      /\b(?:[Pp]age|[Ff]rame)\.(?:goto|navigate|reload|go_?[Bb]ack|go_?[Ff]orward|wait_?[Ff]or_?(?:URL|url|[Nn]avigation|[Ll]oad_?[Ss]tate|[Rr]esponse|[Rr]equest)|expect_(?:navigation|response|request))(?:Async)?: \S/,
    unless:
      /[Cc]rashed|has been closed|[Tt]arget (?:page, context or browser )?closed|Test ended|is not a function|expected string|disconnected|Execution context|Object reference|: Timeout \d+ms exceeded/,
    confidence: 0.72,
  },
  {
    id: 'network/webkit-words',
    pattern:
      /Could not connect to (?:the )?server|network connection was lost|due to access control checks|server with the specified hostname could not be found|request timed out|secure connection to the server cannot be made|Error resolving|Frame load interrupted|Preflight response is not successful|An SSL error has occurred|Unacceptable TLS certificate|Internet connection appears to be offline/i,
    confidence: 0.84,
  },
  {
    id: 'network/translated',
    pattern:
      /Verbindung(?:saufbau)? (?:wurde |)(?:verweigert|abgelehnt|zurückgesetzt)|Zielcomputer die Verbindung verweigerte|keine Verbindung (?:hergestellt|mit)|[Cc]onnexion (?:refusée|réinitialisée|échouée)|ordinateur cible l'a expressément refusée|denegó expresamente|[Cc]onexi[oó]n (?:rechazada|reh?usada|restablecida)|[Cc]onex[aã]o recusada|[Cc]onnessione rifiutata|[Mm]uitas (?:tentativas|solicitações)|[Dd]emasiad[oa]s (?:intentos|solicitudes)|[Zz]u viele (?:Versuche|Anfragen|Anmeldeversuche)|[Tt]rop de (?:tentatives|requêtes)|[Tt]roppi tentativi|积极拒绝|拒绝连接|连接(?:被)?(?:拒绝|超时|重置|失败)|无法连接|接続(?:が|を)?(?:拒否|できません|タイムアウト)|拒否されたため|[Сс]оединени[ея] (?:отклонено|сброшено)|Не удалось подключиться|연결(?:이|을)? ?(?:거부|할 수 없)/,
    confidence: 0.8,
  },
]);
