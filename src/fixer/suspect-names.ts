import { captured } from './renamed.js';

/** A name used by the failing side that may be outdated. */
export interface Suspect {
  readonly kind: 'column' | 'route' | 'property' | 'element';
  readonly name: string;
}

/** Where to look for suspects. */
export interface NameEvidence {
  /** The messages of errors, of the page and of the server. */
  readonly said: string;
  /** Paths of the app that answered 404 or 405. */
  readonly notFound: readonly string[];
  /** The line of the user's own code that threw; null if it is unknown. */
  readonly line: string | null;
}

const columns = [
  /\bcolumn "?(?:\w+\.)?(\w+)"? (?:of relation "?\w+"? )?does not exist/g,
  /\brelation "?(?:\w+\.)?(\w+)"? does not exist/g,
  /\bno such (?:column|table): "?(?:\w+\.)?(\w+)/g,
  /\bhas no column named "?(\w+)/g,
  /\bUnknown column '(?:\w+\.)?(\w+)'/g,
];

/** Returns columns and tables that a database does not know, routes that are not found, properties of undefined values, and missing elements. */
export function suspectNames({ said, notFound, line }: NameEvidence): Suspect[] {
  const named = columns.flatMap((pattern) => captured(said, pattern));
  return [
    ...[...new Set(named)].map((name): Suspect => ({ kind: 'column', name })),
    ...[...new Set([...notFound, ...notFoundIn(said)].flatMap(routesOf))].map((name): Suspect => ({
      kind: 'route',
      name,
    })),
    ...(line === null ? [] : propertiesIn(said, line)).map((name): Suspect => ({ kind: 'property', name })),
    ...(line === null ? [] : elementsIn(said, line)).map((name): Suspect => ({ kind: 'element', name })),
  ];
}

/** Returns requested paths from the logs of servers and clients, which have the address and its status on one line. */
function notFoundIn(said: string): string[] {
  const logged = /\bhttps?:\/\/[^\s/'"`]+(\/[\w./-]*\w)\S*[^\n]*\b40[45]\b/g;
  return captured(said, logged);
}

/** Returns ids, classes and attributes of elements that a script does not find. */
function elementsIn(said: string, line: string): string[] {
  if (!/\bof null\b|\bis null\b/.test(said)) return [];
  const asked = captured(line, /\b(?:getElementById|querySelector)\(\s*["'`]([^"'`]+)["'`]/g);
  return asked.flatMap((one) => one.match(/[\w-]+/g) ?? []);
}

/** Returns a path and those above it: `/api/orders/7`, `/api/orders`, `/api`. */
function routesOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.map((_, at) => `/${parts.slice(0, parts.length - at).join('/')}`);
}

function propertiesIn(said: string, line: string): string[] {
  const read = captured(said, /Cannot read properties of undefined \(reading '(\w+)'\)/g);
  const called = captured(said, /\b(\w+) is not (?:a function|defined|iterable)/g);
  const holders = read.flatMap((name) =>
    captured(line, new RegExp(`\\.(\\w+)!?(?:\\[[^\\]]*\\])?\\.${name}\\b`, 'g')),
  );
  return [...new Set([...holders, ...called.filter((name) => line.includes(name))])];
}
