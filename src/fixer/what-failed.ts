import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import type { DiagnosedFailure } from '../core/cause.js';
import { splitUrl } from '../core/classify/own-origin.js';
import type { Location, TestError } from '../core/failure.js';
import { framesIn } from '../evidence/source-maps/parse-frames.js';
import { real } from '../workspace/is-inside.js';

/** What a failure says about missing names. */
export interface WhatFailed {
  /** The output of the test and its page. */
  readonly own: string;
  /** The servers' log; null if nothing shows that it belongs to this test, since tests share servers. */
  readonly ofServer: string | null;
  /** Paths of the app that answered 404 or 405. */
  readonly notFound: readonly string[];
  /** The file of the app that threw, absolute, and its line; both null if unknown. */
  readonly thrower: string | null;
  readonly line: string | null;
}

/** Reads it from the evidence of a failure. */
export function whatFailed(
  { evidence, diagnosis }: DiagnosedFailure,
  { cwd, isApp }: { readonly cwd: string; readonly isApp: (file: string) => boolean },
): WhatFailed {
  const own = [
    ...evidence.errors.map(({ message }) => message),
    ...evidence.console.map((entry) => entry.text),
    ...evidence.network.map(({ responseBody }) => responseBody ?? ''),
  ].join('\n');
  const ofServer =
    diagnosis.why[0]?.source === 'server' || evidence.network.some(({ status }) => (status ?? 0) >= 500)
      ? evidence.serverOutput
      : null;
  const [, source = '', line = ''] = /^(.+?):(\d+)/.exec(diagnosis.facts.source ?? '') ?? [];
  const told = source === '' ? null : { file: path.resolve(cwd, source), line: Number(line) };
  const at = [told, ofServer === null ? null : thrownIn(ofServer, own, isApp)].find(
    (one) => one && isApp(one.file),
  );
  return {
    own,
    ofServer,
    notFound: evidence.network.flatMap(({ status, url }) =>
      status === 404 || status === 405 ? (splitUrl(url)?.path.replace(/\?.*$/, '') ?? []) : [],
    ),
    thrower: at?.file ?? null,
    line: at ? lineOf(at.file, at.line) : null,
  };
}

/** Returns where a server threw the error that the test saw: the first frame of the app below the same message in its log. */
function thrownIn(log: string, own: string, isApp: (file: string) => boolean): Location | null {
  const [words] =
    /Cannot read properties of (?:undefined|null)[^\n"]*?\)|\b[\w.]+ is not a function/.exec(own) ?? [];
  const at = words === undefined ? -1 : log.indexOf(words);
  if (at < 0) return null;
  const [, stack = ''] = /^[^\n]*\n((?:[^\n]*\bat [^\n]*\n?)+)/.exec(log.slice(at)) ?? [];
  const frames = framesOf({ stack, location: null });
  return frames.find(({ file }) => isApp(file) && !/[\\/]node_modules[\\/]/.test(file)) ?? null;
}

/** Returns the positions in an error that are files on disk, innermost first. */
export function framesOf({ location, stack }: Pick<TestError, 'location' | 'stack'>): Location[] {
  const ofStack = framesIn(stripVTControlCharacters(stack ?? '')).flatMap(({ address, line, column }) => {
    const file = address.startsWith('file:///') ? fileOf(address) : address;
    return file !== null && path.isAbsolute(file) ? [{ file, line, column }] : [];
  });
  return [...(location ? [location] : []), ...ofStack].map((one) => ({ ...one, file: real(one.file) }));
}

/** Returns null for a URL that names no file here; a log may contain anything. */
function fileOf(url: string): string | null {
  try {
    return fileURLToPath(url);
  } catch {
    return null;
  }
}

function lineOf(file: string, line: number): string | null {
  try {
    return readFileSync(file, 'utf8').split('\n')[line - 1] ?? null;
  } catch {
    return null;
  }
}
