import { letters, planted, pseudoRandom, type Plant } from './plant.js';

type Carry = (value: string) => string;
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Secrets that say by a name or a place that they are secrets, as programs print them. */
const carriers: Readonly<Record<string, Readonly<Record<string, Carry>>>> = {
  header: {
    'of a call log': (v) =>
      `  - → POST http://shop.test/pay\n  -   authorization: Bearer ${v}\n  -   accept: */*`,
    'of curl -v': (v) => `> X-Api-Key: ${v}\n> Accept: */*`,
    'of a log': (v) => `2026-11-21T10:00:00Z INFO proxy | Authorization: Token ${v}`,
    'in upper case': (v) => `AUTHORIZATION: BEARER ${v}`,
    'as JSON': (v) => JSON.stringify({ headers: { authorization: `Bearer ${v}` } }),
    'as a list in JSON': (v) => JSON.stringify({ headers: { 'x-auth-token': [v] } }),
    'as raw headers': (v) =>
      JSON.stringify({ rawHeaders: ['Host', 'shop.test', 'Authorization', `Bearer ${v}`] }),
    'as Node prints raw headers': (v) => `rawHeaders: [ 'Host', 'shop.test', 'X-Api-Key', '${v}' ]`,
    'as Node prints it': (v) => `Headers { accept: '*/*', 'x-access-token': '${v}' }`,
    'as a HAR has it': (v) =>
      JSON.stringify({ headers: [{ name: 'Proxy-Authorization', value: `Basic ${v}` }] }),
    'in a HAR, value first': (v) =>
      JSON.stringify({ headers: [{ value: `Bearer ${v}`, name: 'Authorization' }] }),
    'of axios': (v) =>
      `config: { headers: AxiosHeaders { 'Content-Type': 'json', Authorization: 'Bearer ${v}' } }`,
    'of a map': (v) => `Map(1) { 'authorization' => 'Bearer ${v}' }`,
    'of Ruby': (v) => `{"HTTP_AUTHORIZATION"=>"Bearer ${v}"}`,
    'of Python': (v) => `{'Authorization': 'Bearer ${v}', 'Accept': '*/*'}`,
    'of Python tuples': (v) => `[('Authorization', 'Bearer ${v}'), ('Accept', '*/*')]`,
    'of Go': (v) => `map[Accept:[*/*] Authorization:[Bearer ${v}]]`,
    digest: (v) => `Authorization: Digest username="ann", response="${v}"`,
    'AWS signature': (v) =>
      `Authorization: AWS4-HMAC-SHA256 Credential=x/20261121/eu/s3/aws4_request, Signature=${v}`,
    'api key scheme': (v) => `Authorization: ApiKey ${v}`,
    'no scheme': (v) => `authorization: ${v}`,
    'in an object of fetch': (v) => `fetch(url, { headers: { 'X-Auth-Token': '${v}' } })`,
    'in pino': (v) =>
      JSON.stringify({
        level: 30,
        time: 1,
        req: { method: 'GET', headers: { authorization: `Bearer ${v}` } },
        msg: 'request',
      }),
    'in winston': (v) => `info: request {"headers":{"x-api-key":"${v}"},"timestamp":"2026-11-21"}`,
    'of docker': (v) => `X-Registry-Auth: ${base64(JSON.stringify({ password: v }))}`,
    'in JSON in a log in JSON': (v) =>
      JSON.stringify({ log: JSON.stringify({ msg: JSON.stringify({ authorization: `Bearer ${v}` }) }) }),
    'in gRPC metadata': (v) => `metadata: authorization=Bearer ${v}`,
  },
  cookie: {
    'of a request': (v) => `cookie: theme=dark; connect.sid=s%3A${v}.sig; lang=de`,
    'of a response': (v) => `set-cookie: __Host-session=${v}; Path=/; HttpOnly; Secure`,
    'in pino': (v) =>
      JSON.stringify({
        level: 30,
        res: { statusCode: 200, headers: { 'set-cookie': [`sid=${v}; Path=/; HttpOnly`, 'theme=dark'] } },
      }),
    'second of a list': (v) =>
      JSON.stringify({ 'set-cookie': ['theme=dark; Path=/', `auth=${v}; HttpOnly`] }),
    'as Node prints it': (v) => `{ 'set-cookie': [ 'sid=${v}; Path=/' ], date: 'today' }`,
    'in console text': (v) => `document.cookie is "theme=dark; session_id=${v}"`,
    'written by script': (v) => `document.cookie = "auth_token=${v}; path=/"`,
    'of a storage state': (v) =>
      JSON.stringify({ cookies: [{ name: 'x', value: v, domain: 'shop.test', path: '/' }] }),
    'of a storage state, indented': (v) =>
      JSON.stringify({ cookies: [{ name: 'x', value: v, domain: 'shop.test', path: '/' }] }, null, 2),
    'of Playwright': (v) =>
      `await context.addCookies([{ name: 'sid', value: '${v}', url: 'http://shop.test' }]);`,
    'Netscape file': (v) => `#HttpOnly_shop.test\tFALSE\t/\tTRUE\t1790000000\tsession\t${v}`,
    'of Next': (v) => `next-auth.session-token=${v}`,
    'of Supabase': (v) => `sb-abcdefgh-auth-token=base64-${v}`,
    'of PHP': (v) => `Cookie: PHPSESSID=${v}`,
    'of Java': (v) => `GET /cart;jsessionid=${v} HTTP/1.1`,
    'of Django': (v) => `sessionid=${v}; csrftoken=abc`,
    'curl -b': (v) => `curl -b 'sid=${v}' http://shop.test`,
    'curl --cookie': (v) => `curl --cookie "auth=${v}" http://shop.test`,
  },
  field: {
    JSON: (v) => JSON.stringify({ user: 'ann', password: v }),
    'JSON, spaced': (v) => JSON.stringify({ user: 'ann', client_secret: v }, null, 2),
    'JSON that was cut': (v) => `{"user":"ann","refreshToken":"${v}`,
    'JSON in JSON': (v) => JSON.stringify({ body: JSON.stringify({ accessToken: v }) }),
    'JSON in JSON in JSON': (v) => JSON.stringify(JSON.stringify({ body: JSON.stringify({ apiKey: v }) })),
    'JSON in a URL': (v) => `/api?filter=${encodeURIComponent(JSON.stringify({ token: v }))}`,
    'JSON in HTML': (v) => `<div data-props="{&quot;apiKey&quot;:&quot;${v}&quot;}">`,
    'JSON, a list': (v) => JSON.stringify({ tokens: ['public', v] }),
    'JSON, an object': (v) => JSON.stringify({ token: { value: v, expires: 3600 } }),
    'JSON, numbers of a pin': () => JSON.stringify({ pin_code: 83920175 }),
    'of Node': (v) => `{ user: 'ann', refreshToken: '${v}' }`,
    'of Chromium': (v) => `{user: ann, password: ${v}}`,
    form: (v) => `user=ann&password=${v}&remember=1`,
    'form, nested': (v) => `user[name]=ann&user[password]=${v}`,
    'form, nested, encoded': (v) => `user%5Bname%5D=ann&user%5Bpassword%5D=${v}`,
    multipart: (v) => ['--x', 'Content-Disposition: form-data; name="password"', '', v, '--x--'].join('\r\n'),
    'multipart in JSON': (v) =>
      JSON.stringify({
        body: ['--x', 'Content-Disposition: form-data; name="api_key"', '', v, '--x--'].join('\r\n'),
      }),
    YAML: (v) => `db:\n  host: db.test\n  password: ${v}\n  port: 5432`,
    'YAML, quoted': (v) => `secret_key: "${v}"`,
    TOML: (v) => `[db]\npassword = "${v}"`,
    INI: (v) => `[default]\naws_secret_access_key = ${v}`,
    properties: (v) => `spring.datasource.password=${v}`,
    XML: (v) => `<login><user>ann</user><password>${v}</password></login>`,
    'XML attribute': (v) => `<server host="x" apiKey="${v}"/>`,
    SOAP: (v) => `<wsse:Password Type="PasswordText">${v}</wsse:Password>`,
    nuget: (v) => `<add key="ClearTextPassword" value="${v}" />`,
    'HTML input': (v) => `<input name="q" value="x"><input type="password" value="${v}">`,
    'HTML hidden': (v) => `<input type="hidden" name="csrf_token" value="${v}">`,
    'HTML meta': (v) => `<meta name="csrf-token" content="${v}">`,
    'HTML data': (v) => `<div data-api-key="${v}"></div>`,
    GraphQL: (v) => JSON.stringify({ query: `mutation { login(user: "ann", password: "${v}") { id } }` }),
    'GraphQL variables': (v) => JSON.stringify({ variables: { input: { newPassword: v } } }),
    SQL: (v) => `CREATE USER app WITH PASSWORD '${v}';`,
    'SQL of MySQL': (v) => `CREATE USER 'app'@'%' IDENTIFIED BY '${v}';`,
    Ruby: (v) => `Parameters: {"user"=>"ann", "password"=>"${v}"}`,
    PHP: (v) => `array ( 'password' => '${v}', )`,
    'PHP dump': (v) => `["password"]=>\n  string(22) "${v}"`,
    Python: (v) => `{'user': 'ann', 'passwd': '${v}'}`,
    Java: (v) => `User(name=ann, password=${v}, active=true)`,
    Go: (v) => `{Name:ann Password:${v} Active:true}`,
    Rust: (v) => `User { name: "ann", password: "${v}", active: true }`,
    logfmt: (v) => `level=info user=ann token=${v} msg="signed in"`,
    'in a sentence': (v) => `signed in with password "${v}" as ann`,
    'in a sentence, bare': (v) => `the password is ${v}, keep it`,
    'a prompt': (v) => `Password: ${v}`,
    'a table': (v) => `│ password │ '${v}' │`,
    'a CSV': (v) => `name,password\nann,${v}`,
    'a source line': (v) => `const apiKey = '${v}';`,
    'a typed source line': (v) => `  private readonly token: string = "${v}";`,
    'a default': (v) => `const secret = process.env.SECRET ?? '${v}';`,
    'an or': (v) => `const secret = process.env.SECRET || "${v}";`,
    'an object of a test': (v) => `await login({ email: 'a@b.test', password: '${v}' });`,
    'a template': (v) => 'const token = `' + v + '`;',
    'a setter': (v) => `localStorage.setItem('access_token', '${v}')`,
    'of localStorage': (v) => JSON.stringify({ localStorage: [{ name: 'sb-shop-auth-token', value: v }] }),
    'of a step': (v) => `Fill "${v}" getByLabel('Password')`,
    'of a call log': (v) =>
      `TimeoutError: locator.fill: Timeout 2500ms exceeded.\nCall log:\n  - waiting for getByLabel('Password')\n  - fill("${v}")`,
    'of a test': (v) => `await page.fill('#password', '${v}');`,
    'of a test, by label': (v) => `await page.getByLabel('Secret key').fill('${v}');`,
    'of a test, over lines': (v) => `await page\n  .getByLabel('Password')\n  .fill('${v}');`,
    'of a snapshot': (v) => `- textbox "Password" [active] [ref=e9]: ${v}`,
    'of keys pressed': (v) =>
      `await page.getByPlaceholder('Password').pressSequentially('${v}', { delay: 20 });`,
  },
  'one-time code': {
    'of a mail': () => 'Your verification code is 493021. It is valid for ten minutes.',
    'of a text message': () => '493021 is your one-time password',
    JSON: () => JSON.stringify({ otp: '493021' }),
    'JSON, a number': () => JSON.stringify({ otp: 493021 }),
    'a code in JSON': () => JSON.stringify({ email: 'ann@shop.test', code: '493021' }),
    form: () => 'email=ann%40shop.test&otp=493021',
    query: () => 'GET /verify?code=493021&email=ann%40shop.test',
    'of a snapshot': () => '- textbox "One-time code": "493021"',
    'of a test': () => `await page.getByLabel('Verification code').fill('493021');`,
    'of a log': () => 'sent OTP 493021 to ann@shop.test',
    'of a totp link': (v) => `otpauth://totp/Shop:ann?secret=${v}&issuer=Shop`,
    'backup codes': (v) => JSON.stringify({ backupCodes: [v] }),
  },
  URL: {
    'a password': (v) => `https://ann:${v}@shop.test/`,
    'a token for a user': (v) => `git clone https://${v}@github.com/shop/shop.git`,
    'an x-access-token': (v) => `https://x-access-token:${v}@github.com/shop/shop.git`,
    query: (v) => `GET /callback?state=1&access_token=${v}`,
    fragment: (v) => `http://shop.test/#access_token=${v}&token_type=bearer`,
    'OAuth code': (v) => `https://shop.test/callback?code=${v}&state=1`,
    'an API key': (v) => `https://maps.test/js?v=3&key=${v}`,
    'in a URL': (v) => `/login?next=${encodeURIComponent(`/a?b=1&token=${v}`)}`,
    'in HTML': (v) => `<a href="/a?b=1&amp;token=${v}&amp;c=2">`,
    'a magic link': (v) => `http://shop.test/auth/confirm?token_hash=${v}&type=email`,
    'a reset link': (v) => `http://shop.test/reset-password/${v}`,
    'signed by AWS': (v) => `https://b.s3.test/o?X-Amz-Date=20260101&X-Amz-Signature=${v}`,
    'with a security token of AWS': (v) => `https://b.s3.test/o?X-Amz-Security-Token=${v}`,
    'signed by Azure': (v) => `https://shop.blob.test/c?sv=2024-01-01&sig=${v}`,
    'signed by Google': (v) => `https://storage.test/o?GoogleAccessId=x&Signature=${v}`,
    'a web socket': (v) => `wss://shop.test/live?ticket=1&auth=${v}`,
  },
  connection: {
    PostgreSQL: (v) => `postgres://app:${v}@db.test:5432/shop`,
    'PostgreSQL with odd characters': (v) => `postgresql://app:${v}/#?@db.test/shop`,
    libpq: (v) => `host=db.test user=app password=${v} dbname=shop`,
    JDBC: (v) => `jdbc:postgresql://db.test/shop?user=app&password=${v}`,
    MySQL: (v) => `mysql://app:${v}@db.test/shop`,
    MongoDB: (v) => `mongodb+srv://app:${v}@cluster.test/shop?w=1`,
    Redis: (v) => `redis://:${v}@cache.test:6379/0`,
    AMQP: (v) => `amqp://app:${v}@queue.test/v`,
    'SQL Server': (v) => `Server=db.test;Database=shop;User Id=sa;Password=${v};`,
    'SQL Server, short': (v) => `Server=db.test;Uid=sa;Pwd=${v};Encrypt=yes`,
    'Azure storage': (v) =>
      `DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=${v};EndpointSuffix=x`,
    'Azure service bus': (v) => `Endpoint=sb://x.test/;SharedAccessKeyName=Root;SharedAccessKey=${v}`,
    SMTP: (v) => `smtps://ann%40shop.test:${v}@mail.test:465`,
    Prisma: (v) => `Error: P1000 url = "postgresql://app:${v}@localhost:5432/shop"`,
    Oracle: (v) => `sqlplus app/${v}@//db.test:1521/shop`,
    Clickhouse: (v) => `clickhouse://default:${v}@ch.test:9000/shop`,
    Turso: (v) => `libsql://shop.turso.test?authToken=${v}`,
  },
  'command line': {
    'a flag': (v) => `psql-like --username app --password ${v} shop`,
    'a flag with =': (v) => `deploy --token=${v}`,
    'a flag, quoted': (v) => `deploy --api-key "${v}" now`,
    'curl -u': (v) => `curl -u ann:${v} https://shop.test`,
    'curl --user': (v) => `curl --user 'ann:${v}' https://shop.test`,
    'curl -u, joined': (v) => `curl -sSL -uann:${v} https://shop.test`,
    'curl -H': (v) => `curl -H "Authorization: Bearer ${v}" https://shop.test`,
    'curl -H, other': (v) => `curl -H 'X-Api-Key: ${v}' https://shop.test`,
    'curl -d': (v) => `curl -d 'user=ann&password=${v}' https://shop.test`,
    'curl --data JSON': (v) => `curl --data '{"password":"${v}"}' https://shop.test`,
    'mysql -p': (v) => `mysql -u app -p${v} shop`,
    sshpass: (v) => `sshpass -p ${v} ssh ann@shop.test`,
    'docker login': (v) => `docker login -u ann -p ${v} registry.test`,
    'redis-cli -a': (v) => `redis-cli -h cache.test -a ${v} ping`,
    export: (v) => `export STRIPE_SECRET=${v}`,
    'in front of a command': (v) => `PGPASSWORD=${v} psql -h db.test`,
    'docker -e': (v) => `docker run -e API_TOKEN=${v} -e MODE=x shop`,
    PowerShell: (v) => `$env:API_KEY = "${v}"`,
    cmd: (v) => `set API_KEY=${v}`,
    'Docker ENV': (v) => `ENV NPM_TOKEN ${v}`,
    npmrc: (v) => `//registry.test/:_authToken=${v}`,
    'npmrc, basic': (v) => `//registry.test/:_password="${base64(v)}"`,
    netrc: (v) => `machine shop.test login ann password ${v}`,
    pgpass: (v) => `db.test:5432:shop:app:${v}`,
    printenv: (v) => `NODE_ENV=test\nSESSION_SECRET=${v}\nHOME=/root`,
    openssl: (v) => `openssl enc -aes-256-cbc -pass pass:${v}`,
    htpasswd: (v) => `htpasswd -b .htpasswd ann ${v}`,
  },
};

/** Where the secret is a number, it stands in the text itself. */
const numbers = ['493021', '83920175'];

/** Each of them with a secret of its own. */
export function namedPlants(): Plant[] {
  return Object.entries(carriers).flatMap(([kind, ways], group) =>
    Object.entries(ways).map(([spelling, carry], at) => {
      const value = `Zq${pseudoRandom(20, letters, 1000 + group * 100 + at)}9x`;
      const text = carry(value);
      return planted(kind, spelling, numbers.find((one) => text.includes(one)) ?? value, text);
    }),
  );
}
