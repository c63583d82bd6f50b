import type { Place } from './place.js';
import { isCertain } from './secret-value.js';

/** Passwords in the arguments of programs, following their manuals; the curl rule follows gitleaks' curl-auth-user. */
const inArguments = [
  /\bcurl\b[^\n]{0,400}?\s(?:-[a-zA-Z]{0,8}u|--(?:proxy-)?user)[ =]{0,2}["']?[^\s:"']{1,128}:(?<secret>[^\s"']{3,256})/g,
  /\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,200}?\s-p(?<secret>[^\s"'-][^\s"']{2,128})/g,
  /\b(?:sshpass|(?:docker|podman|helm|oras|az|npm)[^\n]{0,40}?\blogin)\b[^\n]{0,200}?\s-p[ =]?["']?(?<secret>[^\s"'-][^\s"']{2,128})/g,
  /\bredis-cli\b[^\n]{0,200}?\s(?:-a|--pass)[ =](?<secret>[^\s"']{3,128})/g,
  /\bhtpasswd\s{1,4}-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}\s{1,4}\S{1,256}\s{1,4}\S{1,64}\s{1,4}(?<secret>\S{3,128})/g,
  /\b(?:https?|xh)\b[^\n]{0,80}?\s(?:-a|--auth)[ =]["']?[^\s:"']{1,128}:(?<secret>[^\s"']{3,256})/g,
  /\bldap(?:search|modify|add|delete|whoami|passwd)\b[^\n]{0,200}?\s-w {0,4}(?<secret>[^\s"'-]\S{2,128})/g,
];

/** Passwords in notations that hold nothing else. */
const inSyntax = [
  /\b(?:sqlplus\s{1,4}|jdbc:oracle:\w{1,8}:)[^\s/@]{1,64}\/(?<secret>[^\s/@]{3,128})@/g,
  /\s-pass(?:in|out)?\s{1,4}pass:(?<secret>\S{3,256})/g,
  /\bIDENTIFIED\s{1,4}(?:WITH\s{1,4}\S{1,64}\s{1,4})?BY\s{1,4}'(?<secret>[^'\n]{1,256})'/gi,
];

/** Passwords on command lines and in SQL statements. */
export const commandLines: readonly Place[] = [
  ...inArguments.map((pattern) => ({ kind: 'password', pattern, isSecret: isCertain })),
  ...inSyntax.map((pattern) => ({ kind: 'password', pattern })),
];
