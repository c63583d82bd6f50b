import { isSecretHeader, isSecretName } from './secret-name.js';

/**
 * A way in which texts carry named secrets: `before` holds `name`, and `value` is masked where the name means a secret.
 * Every quantifier is bounded or disjoint from what follows it, since the texts may be hostile.
 */
export interface NamedSecret {
  readonly pattern: RegExp;
  readonly isSecret: (name: string) => boolean;
  /** Whether a value can be a secret at all; by default every one can. */
  readonly isValue?: (value: string) => boolean;
}

/** Every way that is known, in the order in which they are looked for. */
export const namedSecrets: readonly NamedSecret[] = [
  {
    // `authorization: Bearer …` on a line of its own, as Playwright's call logs, servers and curl print requests.
    pattern:
      /^(?<before>(?:\d{12,14} )?[ \t>*<|←→-]{0,16}(?<name>[A-Za-z][\w-]{1,63})[ \t]{0,4}:[ \t]{0,4})(?<value>[^\s][^\n]*)$/gm,
    isSecret: isHeaderOnALine,
  },
  {
    // The same behind a logger's own words.
    pattern:
      /(?<before>[\s|>](?<name>(?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{1,48}):[ \t]{1,4})(?<value>[^\s][^\n]*)$/gim,
    isSecret: isSecretHeader,
  },
  {
    // `curl -H 'Authorization: Bearer …'`, and a header in any other quotes.
    pattern: /(?<before>['"`](?<name>[A-Za-z][\w-]{1,63}):[ ]?)(?<value>[^\s'"`][^'"`\n]*)(?=['"`])/g,
    isSecret: isHeaderOnALine,
  },
  {
    // `password: hunter2` on a line of its own, as YAML and logs have it; prose has no digit in its first and only word.
    pattern:
      /^(?<before>(?:\d{12,14} )?[ \t>*|-]{0,16}(?<name>[A-Za-z][\w. -]{1,63}):[ \t]{1,4})(?<value>\S+)[ \t]*$/gm,
    isSecret: isSecretName,
    isValue: (value) => value.length >= 6 && /\d/.test(value) && !/^["'{[]/.test(value),
  },
  {
    // `"password": "…"`, also where the text was cut before the closing quote.
    pattern: /(?<before>"(?<name>[^"\\\n]{1,64})"\s{0,8}:\s{0,8}")(?<value>[^"\\]*(?:\\[\s\S][^"\\]*)*)/g,
    isSecret: isSecretName,
  },
  {
    // `"pin_token": 1234`
    pattern: /(?<before>"(?<name>[^"\\\n]{1,64})"\s{0,8}:\s{0,8})(?<value>[^\s"{}[\],<]+)/g,
    isSecret: isSecretName,
  },
  {
    // JSON within a JSON string: `\"password\":\"…\"`, at whatever depth.
    pattern:
      /(?<before>\\{1,7}"(?<name>[^"\\\n]{1,64})\\{1,7}"\s{0,8}:\s{0,8}\\{1,7}")(?<value>[^"\\]*(?:\\+[^"\\][^"\\]*)*)/g,
    isSecret: isSecretName,
  },
  {
    // `%22password%22%3A%22…%22`, JSON in a URL.
    pattern:
      /(?<before>%22(?<name>[\w.-]{1,64})%22(?:%20|\+)?%3A(?:%20|\+)?%22)(?<value>(?:(?!%22)[^\s&"])+)/gi,
    isSecret: isSecretName,
  },
  {
    // `%26token%3D…`, a URL in a URL.
    pattern: /(?<before>(?:%3F|%26|%23)(?<name>[\w.-]{1,64})%3D)(?<value>(?:(?!%26|%23)[^\s&"'<>])+)/gi,
    isSecret: isSecretParameter,
  },
  {
    // `{"name":"auth-token","value":"…"}`: storage states, form fields, HAR.
    pattern:
      /(?<before>\\?"name\\?"\s{0,4}:\s{0,4}\\?"(?<name>[^"\\\n]{1,128})\\?"\s{0,4},\s{0,8}\\?"value\\?"\s{0,4}:\s{0,4}\\?")(?<value>[^"\\]*(?:\\[^"][^"\\]*)*)/g,
    isSecret: isSecretHeader,
  },
  {
    // The same, of a cookie: whatever its name is.
    pattern:
      /(?<before>\\?"name\\?"\s{0,4}:\s{0,4}\\?"[^"\\\n]{1,128}\\?"\s{0,4},\s{0,8}\\?"value\\?"\s{0,4}:\s{0,4}\\?")(?<value>[^"\\]*)(?=\\?"\s{0,4},\s{0,8}\\?"(?<name>domain|path|expires|httpOnly)\\?")/g,
    isSecret: () => true,
  },
  {
    // `password: 'ab'`, as Node prints objects.
    pattern:
      /(?<![\w"'-])(?<before>'?(?<name>[A-Za-z_][\w-]{0,63})'?\s{0,4}:\s{0,4}')(?<value>[^'\\\n]*(?:\\.[^'\\\n]*)*)/g,
    isSecret: isSecretName,
  },
  {
    // The same with double quotes.
    pattern:
      /(?<![\w"'-])(?<before>(?<name>[A-Za-z_][\w-]{0,63})\s{0,4}:\s{0,4}")(?<value>[^"\\\n]*(?:\\.[^"\\\n]*)*)/g,
    isSecret: isSecretName,
  },
  {
    // `{user: ann, password: hunter2}`, as Chromium previews objects.
    pattern: /(?<before>[{,]\s{0,4}(?<name>[A-Za-z_][\w-]{0,63}):[ ]?)(?<value>[^\s,;}'"`{[<][^,;}\n]*)/g,
    isSecret: isSecretName,
  },
  {
    // `token="…"`, and `token = '…'` of source code.
    pattern: /(?<![\w.-])(?<before>(?<name>[A-Za-z_][\w.-]{0,63})\s{0,2}=\s{0,2}["'`])(?<value>[^"'`\n]*)/g,
    isSecret: isSecretName,
  },
  {
    // `aws_secret_access_key = …` of a credentials file: a value as no code has it.
    pattern:
      /(?<![\w.-])(?<before>(?<name>[A-Za-z_][\w.-]{0,63})\s{1,4}=\s{1,4})(?<value>[\w/+=.\ufdd0\ue000-\uefff-]{16,512})/g,
    isSecret: isSecretName,
    isValue: (value) => /\d/.test(value),
  },
  {
    // `?token=…` and `&code=…` in a query or a form.
    pattern: /(?<before>[?&#](?<name>[\w.[\]-]{1,64})=)(?<value>[^\s&"<>;]*[^\s&"<>;'`),.\]}])/g,
    isSecret: isSecretParameter,
  },
  {
    // `token=…` in a form, a connection string or a list of variables.
    pattern: /(?<![\w.?&#-])(?<before>(?<name>[A-Za-z_][\w.-]{0,63})=)(?<value>[^\s&"<>;,)\]}]+)/g,
    isSecret: isSecretName,
  },
  {
    // `--password hunter2` and `--token=…` of a command line.
    pattern: /(?<before>(?<![\w-])--(?<name>[a-z][\w-]{1,63})[= ])(?<value>[^\s"'<>-][^\s"'<>]*)/g,
    isSecret: isSecretName,
    isValue: (value) => value.length >= 4,
  },
  {
    // A part of a multipart form, its line ends as they are or as JSON writes them, or with a log's stamp behind them.
    pattern:
      /(?<before>\bname=\\?"(?<name>[^"\\\n]{1,64})\\?"(?:;[^\n\r\\]{0,200})?(?:(?:\r?\n|(?:\\r)?\\n)(?:\d{12,14} )?(?:content-[^\n\r\\]{0,128})?){2,4})(?<value>(?:(?!\\r|\\n)[^\r\n])+)/gi,
    isSecret: isSecretName,
  },
  {
    // `textbox "Password": …` of an accessibility snapshot, which shows what was typed.
    pattern: /(?<before>textbox "(?<name>[^"\n]{1,128})"[^:\n]{0,128}: )(?<value>[^\s][^\n]*)/g,
    isSecret: isSecretField,
  },
];

/** A `Token: …` of plain prose is no header. */
function isHeaderOnALine(name: string): boolean {
  return isSecretHeader(name) && (name.includes('-') || /^(?:authorization|cookie|apikey)$/i.test(name));
}

/** Names that mean a secret in a query and nothing elsewhere. */
function isSecretParameter(name: string): boolean {
  return /^(?:key|auth|code|otp|sid|sign)$/i.test(name) || isSecretName(name);
}

/** What people are asked for in forms. */
function isSecretField(name: string): boolean {
  return isSecretName(name) || /\b(?:one.time|verification|security|2fa|otp|pin|cvc|cvv)\b/i.test(name);
}
