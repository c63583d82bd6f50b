import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

const exited = 'Error: Process from config.webServer was not able to start. Exit code: 1';
const dropped = [request({ status: null, failure: 'net::ERR_EMPTY_RESPONSE' })];
const answered500 = [request({ status: 500 })];

const goPanic = `2026/11/23 23:56:21 GET / 723.329µs
2026/11/23 23:56:21 http: panic serving 127.0.0.1:56774: runtime error: index out of range [0] with length 0
goroutine 35 [running]:
net/http.(*conn).serve.func1()
	/usr/lib/go-1.19/src/net/http/server.go:1850 +0xbf
example.com/library/internal/web.recovered.func1()
	/project/internal/web/recovered.go:20 +0x41
panic({0x7be580, 0xc0000c8498})
	/usr/lib/go-1.19/src/runtime/panic.go:890 +0x262
github.com/lib/pq.(*conn).query(0x7ba140?)
	/project/vendor/github.com/lib/pq/conn.go:880 +0x11
example.com/library/internal/store.(*Store).Loans(0x7ba140?, {0xc0000b6872?, 0x7defaf?})
	/project/internal/store/store.go:127 +0x154
net/http.HandlerFunc.ServeHTTP(0xc0002ab9e0?, {0x883798?, 0xc0001627e0?}, 0xc000162820?)
	/usr/lib/go-1.19/src/net/http/server.go:2109 +0x2f`;

const jvmStack = `Nov 23, 2026 11:43:11 PM com.example.tasks.web.TaskApi handle
SEVERE: Unhandled exception in /api/tasks
com.example.tasks.ApiException: Could not list tasks
	at com.example.tasks.web.TaskApi.handle(src/main/java/com/example/tasks/web/TaskApi.java:26)
	at java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.lang.IllegalStateException: no tasks
	at java.base/java.util.Optional.orElseThrow(Optional.java:403)
	at com.example.tasks.Tasks.all(src/main/java/com/example/tasks/Tasks.java:51)
	... 8 more
Nov 23, 2026 11:43:11 PM com.example.tasks.web.TaskApi handle
INFO: done`;

const rustPanic = `
thread '<unnamed>' (12745) panicked at src/notes.rs:48:37:
called \`Option::unwrap()\` on a \`None\` value
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/panicking.rs:689:5
   1: notes::notes::Note::label
             at ./src/notes.rs:48:37`;

describe('CS-10 a server in a compiled language', () => {
  it.each([
    [
      'Go code that does not compile',
      '# example.com/library/internal/web\ninternal/web/handlers.go:84:2: byline declared but not used',
      'internal/web/handlers.go:84:2: byline declared but not used',
      'internal/web/handlers.go:84:2',
    ],
    [
      'Go code at the root of its module',
      '# command-line-arguments\n./main.go:12:5: undefined: x',
      './main.go:12:5: undefined: x',
      'main.go:12:5',
    ],
    [
      'Java code that javac cannot parse',
      "src/main/java/com/shop/Cart.java:33: error: ';' expected\n    add(title)\n              ^\n1 error",
      "src/main/java/com/shop/Cart.java:33: error: ';' expected",
      'src/main/java/com/shop/Cart.java:33',
    ],
    [
      'Java code that Maven compiles',
      '[INFO] 1 error\n[ERROR] COMPILATION ERROR : \n[ERROR] /project/src/main/java/Cart.java:[12,5] cannot find symbol',
      '/project/src/main/java/Cart.java:[12,5] cannot find symbol',
      'src/main/java/Cart.java:12:5',
    ],
    [
      'Rust code after a warning',
      'warning: unused variable: `a`\n --> src/main.rs:4:9\n\nerror: expected `;`, found keyword `let`\n  --> src/http.rs:33:27\n   |\nerror: could not compile `notes` (bin "notes") due to 1 previous error',
      'error: expected `;`, found keyword `let`',
      'src/http.rs:33:27',
    ],
  ])('CS-1 classifies %s, and finds the line', (_, serverOutput, evidence, source) => {
    const { category, why, facts } = classify(failing(exited, { serverOutput }));
    expect([category, why[0]?.evidence, facts.source]).toEqual(['build-error', evidence, source]);
  });

  it.each([
    [
      'a panic of a Go handler, not the deferred function that recovers',
      goPanic,
      'http: panic serving 127.0.0.1:56774: runtime error: index out of range [0] with length 0',
      'internal/store/store.go:127',
    ],
    [
      'the innermost exception of a JVM',
      jvmStack,
      'Caused by: java.lang.IllegalStateException: no tasks',
      'src/main/java/com/example/tasks/Tasks.java:51',
    ],
    [
      'what a panic of Rust says, below its place',
      rustPanic,
      'called `Option::unwrap()` on a `None` value',
      'src/notes.rs:48:37',
    ],
  ])('CS-3 classifies %s, and finds the line', (_, serverOutput, evidence, source) => {
    const { category, why, facts } = classify(failing(locatorTimeout, { serverOutput, network: dropped }));
    expect([category, why[0]?.evidence, facts.source]).toEqual(['runtime-error', evidence, source]);
  });

  it.each([
    [
      'the innermost exception of .NET',
      'fail: Shop[1]\n      System.AggregateException: One or more errors occurred.\n       ---> System.ArgumentException: no such coupon\n         at Shop.Cart.Apply(String code) in /src/Cart.cs:line 41',
      '---> System.ArgumentException: no such coupon',
    ],
    [
      'an exception of Elixir',
      '** (exit) an exception was raised:\n    ** (MatchError) no match of right hand side value: :error\n        (shop 0.1.0) lib/shop/cart.ex:9: Shop.Cart.total/1',
      '** (MatchError) no match of right hand side value: :error',
    ],
    [
      'an exception in the log of Laravel',
      'local.ERROR: no such coupon {"exception":"[object] (DomainException(code: 0): no such coupon at /srv/app/Cart.php:9)',
      'local.ERROR: no such coupon {"exception":"[object] (DomainException(code: 0): no such coupon at /srv/app/Cart.php:9)',
    ],
    [
      'an error that Bun prints',
      'error: no such coupon\n      at total (/app/src/cart.ts:4:9)',
      'error: no such coupon',
    ],
    [
      'an error in a log of JSON',
      String.raw`{"level":50,"err":{"type":"Error","stack":"Error: no \"A1\"\n    at apply (/app/src/cart.ts:4:9)"},"msg":"no"}`,
      'Error: no "A1"',
    ],
    [
      'an error of Astro, whatever its name',
      '[ERROR] [ImageMissingAlt] no text\n  Hint:\n    add one',
      '[ImageMissingAlt] no text',
    ],
  ])('CS-3 recognizes %s by its form', (_, serverOutput, evidence) => {
    const { category, why } = classify(failing(locatorTimeout, { serverOutput, network: answered500 }));
    expect([category, why[0]?.evidence]).toEqual(['runtime-error', evidence]);
  });

  it('CS-2 recognizes what a mapper of .NET throws by its frames', () => {
    const serverOutput =
      'System.InvalidOperationException: odd\n   at Microsoft.EntityFrameworkCore.Query.Visitor.Visit(Expression e)';
    expect(classify(failing(locatorTimeout, { serverOutput, network: answered500 })).category).toBe(
      'database-error',
    );
  });

  it.each([
    'npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync. Please update your lock file',
    'Internal Error: shop: This package doesn\'t seem to be present in your lockfile; run "yarn install"',
    'error: lockfile had changes, but lockfile is frozen',
    'error Command "serve" not found.',
    'error: Could not resolve: "zod". Maybe you need to "bun install"?',
  ])('CS-1 recognizes what a package manager misses: %s', (serverOutput) => {
    expect(classify(failing(exited, { serverOutput })).category).toBe('build-error');
  });

  it.each([
    'bash: line 1: 4711 Killed   node server.js',
    'dependency failed to start: container shop-db-1 is unhealthy',
  ])('CS-11 takes a server that the machine stopped for an outage: %s', (serverOutput) => {
    const { category, retry } = classify(failing(exited, { serverOutput }));
    expect([category, retry]).toEqual(['unknown', 'env_error']);
  });

  it.each([
    ['Laravel', 'local.ERROR: Vite manifest not found at: /srv/public/build/manifest.json', 'build-error'],
    ['Django', 'Cannot read Vite manifest file for app default at : /srv/dist/manifest.json', 'build-error'],
    ['Symfony', 'Asset manifest file "/srv/public/build/manifest.json" does not exist.', 'build-error'],
    ['a web app', 'Asset manifest not found: /manifest.json', 'network-error'],
  ])('CS-1 a manifest that %s misses', (_, serverOutput, category) => {
    expect(classify(failing(locatorTimeout, { serverOutput, network: answered500 })).category).toBe(category);
  });

  it.each([
    [
      'an error as compilers write it',
      'src/Invoice.hs:12:9: error: [GHC-88464]\n    Not in scope: totl',
      'build-error',
    ],
    ['a connection that is named in that form', 'mail.local:25: error: connection refused', 'network-error'],
    [
      'an exception in the form of a build’s error',
      '✘ [ERROR] Uncaught TypeError: total is not a function',
      'runtime-error',
    ],
    [
      'an error class for a connection',
      'KafkaJSConnectionError: Connection error: connect ECONNREFUSED 127.0.0.1:9092',
      'network-error',
    ],
  ])('CS-7 takes %s for what it says', (_, serverOutput, category) => {
    expect(classify(failing(locatorTimeout, { serverOutput, network: answered500 })).category).toBe(category);
  });

  it('CS-5 takes an uncaught error of the operating system for the port in use that it is', () => {
    const serverOutput = 'error: Uncaught (in promise) AddrInUse: Address already in use (os error 98)';
    const { category, retry } = classify(failing(exited, { serverOutput }));
    expect([category, retry]).toEqual(['network-error', 'env_error']);
  });

  it('CS-3 decides by the exception of a server rather than by what the page makes of its answer', () => {
    const serverOutput =
      'java.lang.NullPointerException: Cannot invoke "String.length()" because "a" is null\n\tat com.shop.Task.initials(src/Task.java:5)';
    const console = [logged('TypeError: tasks.map is not a function', { type: 'pageerror' })];
    const { why, facts } = classify(failing(locatorTimeout, { serverOutput, console, network: answered500 }));
    expect([why[0]?.source, facts.source]).toEqual(['server', 'src/Task.java:5']);
  });

  it('CS-5 takes what Node throws below a proxy for the failed connection that it is', () => {
    const serverOutput =
      '12:12:12 AM [vite] http proxy error: /api/orders\nError: socket hang up\n    at Socket.socketOnEnd (node:_http_client:528:25)';
    expect(classify(failing(locatorTimeout, { serverOutput, network: answered500 })).category).toBe(
      'network-error',
    );
  });

  it('CS-3 names no file of a library as the place', () => {
    const serverOutput =
      'java.lang.IllegalStateException: no\n\tat java.base/java.util.ArrayList.get(ArrayList.java:427)\n\tat org.lib.Pool.take(Pool.java:12)';
    const { category, facts } = classify(failing(locatorTimeout, { serverOutput, network: answered500 }));
    expect([category, facts.source]).toEqual(['runtime-error', null]);
  });

  it('CS-5 takes no duration in a log for the status of an answer', () => {
    const network = [request({ status: null, failure: 'no answer until the test ended', method: 'GET' })];
    const reasons = (serverOutput: string) =>
      classify(failing(locatorTimeout, { serverOutput, network })).why.map(({ source }) => source);
    expect(reasons('GET /api/stats 510.692µs\nGET /api/a 510µs\nGET /api/b 503 ms')).not.toContain('server');
    expect(reasons('GET /api/stats 510 692µs')).toContain('server');
  });
});
