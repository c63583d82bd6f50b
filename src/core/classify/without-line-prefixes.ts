/** The prefixes that CI systems, containers, task runners and pytest put before every line they print. */
const clock = String.raw`\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?`;
const container = String.raw`(?!\d{1,6} *\|)[\w.@/-]{1,40} {1,20}\|(?: |$)`;
const task = String.raw`@?[\w./-]{1,60}:[\w.-]{1,40}(?::[\w-]{1,40})?: `;
const prefix = new RegExp(
  String.raw`^[ \t]*(?:(?:${clock}[ \t]{1,4}|\[WebServer\] ?|pw:\w{2,12} |\[\w{2,20} #\d{1,3}(?:-\d{1,3})?\] ?|E {3}(?: {4})?|${container}|@[\w-]{1,40}/${task}))+`,
  'gm',
);
/** A cheap check whether a text may hold such prefixes. */
const suspect =
  /^[ \t]*(?:\[?\d\d|\[WebServer\]|pw:|\[\w{2,20} #|E {2}|@[\w-]{1,40}\/|[\w.@/-]{1,40} {1,20}\|)/m;

/** A text whose every line is quoted as in mail and Markdown. */
const quoted = /^(?:[ \t]{0,8}>(?![ \t]*\d{1,6}[ \t]*\|).*(?:\n+|$))+$/;

/** Removes prefixes that other programs put before each line, so that every line begins as it was printed first. */
export function withoutLinePrefixes(text: string): string {
  const own = quoted.test(text) ? text.replace(/^[ \t]*> ?/gm, '') : text;
  return suspect.test(own) ? own.replace(prefix, '') : own;
}
