/** What CI systems, containers, task runners and pytest put before every line that they pass on, each with its look. */
const clock = String.raw`\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?`;
const container = String.raw`(?!\d{1,6} *\|)[\w.@/-]{1,40} {1,20}\|(?: |$)`;
const task = String.raw`@?[\w./-]{1,60}:[\w.-]{1,40}(?::[\w-]{1,40})?: `;
const prefix = new RegExp(
  String.raw`^[ \t]*(?:(?:${clock}[ \t]{1,4}|\[WebServer\] ?|pw:\w{2,12} |\[\w{2,20} #\d{1,3}(?:-\d{1,3})?\] ?|E {3}(?: {4})?|${container}|@[\w-]{1,40}/${task}))+`,
  'gm',
);
/** Whether a text may hold such prefixes, told without looking at each line. */
const suspect =
  /^[ \t]*(?:\[?\d\d|\[WebServer\]|pw:|\[\w{2,20} #|E {2}|@[\w-]{1,40}\/|[\w.@/-]{1,40} {1,20}\|)/m;

/** A text of which every line is quoted, as mail and Markdown do it. */
const quoted = /^(?:[ \t]{0,8}>(?![ \t]*\d{1,6}[ \t]*\|).*(?:\n+|$))+$/;

/** Takes off what somebody else put before each line of a program's text, so that its lines begin where they began. */
export function withoutLinePrefixes(text: string): string {
  const own = quoted.test(text) ? text.replace(/^[ \t]*> ?/gm, '') : text;
  return suspect.test(own) ? own.replace(prefix, '') : own;
}
