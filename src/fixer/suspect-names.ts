/** A name that the failing side says and that may be an old one. */
export interface Suspect {
  readonly kind: 'column' | 'route' | 'property';
  readonly name: string;
}

/** What suspects are looked for in. */
export interface NameEvidence {
  /** Messages of the errors, of the page and of the server. */
  readonly said: string;
  /** Paths of the app that answered 404 or 405. */
  readonly notFound: readonly string[];
  /** The line of the user's own code that threw; null where it is not at hand. */
  readonly line: string | null;
}

const columns = [
  /\bcolumn "?(?:\w+\.)?(\w+)"? (?:of relation "?\w+"? )?does not exist/g,
  /\brelation "?(?:\w+\.)?(\w+)"? does not exist/g,
  /\bno such (?:column|table): "?(?:\w+\.)?(\w+)/g,
  /\bhas no column named "?(\w+)/g,
  /\bUnknown column '(?:\w+\.)?(\w+)'/g,
];

/** Columns and tables that a database does not know, routes that nobody answers, properties of what is undefined. */
export function suspectNames({ said, notFound, line }: NameEvidence): Suspect[] {
  const named = columns.flatMap((pattern) => Array.from(said.matchAll(pattern), ([, name = '']) => name));
  return [
    ...[...new Set(named)].map((name): Suspect => ({ kind: 'column', name })),
    ...[...new Set(notFound.flatMap(routesOf))].map((name): Suspect => ({ kind: 'route', name })),
    ...(line === null ? [] : propertiesIn(said, line)).map((name): Suspect => ({ kind: 'property', name })),
  ];
}

/** A path, and those above it: `/api/orders/7`, `/api/orders`. */
function routesOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.map((_, at) => `/${parts.slice(0, parts.length - at).join('/')}`);
}

function propertiesIn(said: string, line: string): string[] {
  const read = Array.from(
    said.matchAll(/Cannot read properties of undefined \(reading '(\w+)'\)/g),
    ([, name = '']) => name,
  );
  const called = Array.from(
    said.matchAll(/\b(\w+) is not (?:a function|defined|iterable)/g),
    ([, name = '']) => name,
  );
  const holders = read.flatMap((name) =>
    Array.from(
      line.matchAll(new RegExp(`\\.(\\w+)!?(?:\\[[^\\]]*\\])?\\.${name}\\b`, 'g')),
      ([, one = '']) => one,
    ),
  );
  return [...new Set([...holders, ...called.filter((name) => line.includes(name))])];
}
