import { expect, it } from 'vitest';
import { printedEntry } from '../../../src/evidence/server-log.js';

const stack = 'Error: no table\n    at list (server/books.js:7:20)';

it.each([
  [
    'pino’s entry of a request that failed',
    {
      level: 50,
      time: 1,
      pid: 2,
      hostname: 'vm',
      req: { url: '/books' },
      err: { type: 'E', message: 'no table', stack, code: '42P01' },
      msg: 'no table',
    },
    `error: { req: { url: '/books' } }\n${stack} { code: '42P01' }`,
  ],
  [
    'winston’s entry of an error',
    { level: 'error', message: 'no table', stack, id: 3 },
    `error: { id: 3 }\n${stack}`,
  ],
  ['an entry without an error', { level: 30, pid: 2, msg: 'listening' }, 'listening'],
  [
    'an error without a stack',
    { level: 60, msg: 'cannot start', err: { message: 'no table' } },
    'fatal: cannot start\nno table',
  ],
])('EV-7 a server’s log in JSON is read as what Node prints: %s', (_, entry, expected) => {
  expect(printedEntry(JSON.stringify(entry))).toBe(expected);
  expect(printedEntry(`[api] ${JSON.stringify(entry)}`)).toBe(`[api] ${expected}`);
});

it.each(['{"a":1}', '{ not JSON }', 'GET /books {"id":3}', '', '{"msg":'])(
  'EV-7 another line stays as it is: %s',
  (line) => {
    expect(printedEntry(line)).toBe(line);
  },
);
