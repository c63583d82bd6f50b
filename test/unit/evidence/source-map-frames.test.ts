import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { framesIn } from '../../../src/evidence/source-maps/parse-frames.js';

/** Each frame as `address line column`. */
function found(text: string): string[] {
  return framesIn(text).map(({ address, line, column }) => `${address} ${line} ${column}`);
}

describe('EV-6: frames', () => {
  it.each([
    ['V8', '    at submit (http://h:3000/assets/a-4f2a.js:1:2345)', 'http://h:3000/assets/a-4f2a.js 1 2345'],
    ['V8, no name', '    at https://h/a.js:1:2', 'https://h/a.js 1 2'],
    [
      'V8, async',
      '    at async Promise.all (index 0)\n    at async http://h/a.js?v=1:7:8',
      'http://h/a.js?v=1 7 8',
    ],
    ['V8, method alias', '    at Shop.pay [as onclick] (http://h/a.js#top:1:2)', 'http://h/a.js#top 1 2'],
    ['V8, eval', '    at eval (eval at run (http://h/a.js:1:2), <anonymous>:3:4)', 'http://h/a.js 1 2'],
    ['Firefox', 'submit@http://h/a.js:1:2', 'http://h/a.js 1 2'],
    ['Firefox, async', 'async*submit@http://h/src/a.tsx?t=17:1:2', 'http://h/src/a.tsx?t=17 1 2'],
    ['Safari', 'module code@http://h/a.js:1:2\n[native code]', 'http://h/a.js 1 2'],
    ['Safari, no name', 'http://h/a.js:1:2', 'http://h/a.js 1 2'],
    ['with an IPv6 address', 'at f (http://[::1]:5173/a.js:1:2)', 'http://[::1]:5173/a.js 1 2'],
    ['Node, file URL', '    at file:///srv/my%20app/a.mjs:1:2', 'file:///srv/my%20app/a.mjs 1 2'],
    ['Node, path', '    at save (/srv/app/a.js:1:2)', '/srv/app/a.js 1 2'],
    ['Node, path with spaces', '    at save (/srv/my app (2)/a.js:1:2)', '/srv/my app (2)/a.js 1 2'],
    ['Node, path with spaces, no name', '    at /srv/my app/a.js:1:2', '/srv/my app/a.js 1 2'],
    ['Windows', String.raw`    at save (C:\Users\me too\a.js:1:2)`, String.raw`C:\Users\me too\a.js 1 2`],
    ['Windows, file URL', '    at file:///C:/app/a.mjs:1:2', 'file:///C:/app/a.mjs 1 2'],
    [
      'webpack, evaluated',
      '    at f (webpack-internal:///./src/a.tsx:1:2)',
      'webpack-internal:///./src/a.tsx 1 2',
    ],
    [
      'Next.js layers and groups',
      '    at Page (webpack-internal:///(app-pages-browser)/./src/app/(auth)/[id]/page.tsx:1:2)',
      'webpack-internal:///(app-pages-browser)/./src/app/(auth)/[id]/page.tsx 1 2',
    ],
    ['webpack, hashed', 'f@webpack://app/./src/a.tsx?abcd:1:2', 'webpack://app/./src/a.tsx?abcd 1 2'],
    [
      'React, forwarded',
      '    at Page (rsc://React/Server/webpack-internal:///(rsc)/./a.tsx?7:1:2)',
      'webpack-internal:///(rsc)/./a.tsx?7 1 2',
    ],
    ['in JSON', String.raw`{"stack":"E: x\n    at f (/srv/a.js:1:2)\n"}`, '/srv/a.js 1 2'],
    ['in prose', 'see "http://h/a.js:1:2", it says', 'http://h/a.js 1 2'],
  ])('EV-6 reads a frame: %s', (_, text, expected) => {
    expect(found(text)).toEqual([expected]);
  });

  it.each([
    'at <anonymous>:1:2',
    'run@http://h/a.js line 12 > eval:3:4',
    'at 12:30:45 the clock struck',
    'ratio 16:9:1',
    'src/a.ts:1:2',
    'http://h/a.js:1',
    'see http://[::1:2:3:4]/',
  ])('EV-6 reads no frame in %s', (text) => {
    expect(found(text)).toEqual([]);
  });

  it('EV-6 reads every frame of a stack with its position', () => {
    const text = 'E: x\n    at a (http://h/a.js:1:2)\n    at b (http://h/b.js:3:4), http://h/c.js:5:6';
    const frames = framesIn(text);
    expect(frames.map(({ start, end }) => text.slice(start, end))).toEqual([
      'http://h/a.js:1:2',
      'http://h/b.js:3:4',
      'http://h/c.js:5:6',
    ]);
  });

  it('EV-11 reads the frames of any text in order and without overlap', () => {
    const piece = fc.constantFrom(
      'http://',
      'a',
      ':1',
      ':1:2',
      '(',
      ')',
      '/',
      '\n',
      ' ',
      'C:\\',
      '@',
      ' line 1 > eval',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 80 }), (pieces) => {
        const text = pieces.join('');
        let last = 0;
        for (const { start, end, address, line, column } of framesIn(text)) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(text.slice(start, end)).toBe(`${address}:${line}:${column}`);
          last = end;
        }
      }),
    );
  });
});
