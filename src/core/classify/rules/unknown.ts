import { rulesFor } from '../rule.js';

/** Known failures of the browser, the runner or the machine rather than of the project's code. */
export const unknownRules = rulesFor('unknown', [
  {
    id: 'unknown/crash',
    pattern:
      /exit(?:ed)?(?: with)?(?: code)?:? 13[2459]\b|lost communication with the server|page crashed|target crashed|worker (?:process )?exited (?:unexpectedly|before)|Worker forks emitted error|Playwright connection closed|(?:page|context|browser)(?:,? (?:context )?or browser)? has been closed|Target closed|browser (?:has )?(?:been )?disconnected|browser (?:was |has been )?closed|\bSIG(?:SEGV|ABRT|KILL|TRAP|BUS|ILL)\b|browser (?:has )?crashed|Session closed|renderer process (?:just )?crashed/i,
    confidence: 0.94,
  },
  {
    id: 'unknown/out-of-memory',
    pattern:
      /exit(?:ed)?(?: with)?(?: code)?:? 137\b|heap out of memory|near heap limit|ERR_WORKER_OUT_OF_MEMORY|OOMKilled|Cannot allocate memory|out of memory\b|Last few GCs|^Killed$|: {1,4}\d{1,7} Killed\b|\bMark-(?:compact|sweep)\b.{0,40}[\d)] MB/im,
    confidence: 0.95,
  },
  {
    id: 'unknown/machine',
    pattern:
      /\bENOSPC\b|\bENOMEM\b|\bEMFILE\b|no space left|disk full|resource temporarily unavailable|System limit for number|docker daemon|container runtime|response from daemon|dependency failed to start: container/i,
    confidence: 0.93,
  },
  {
    id: 'unknown/browser-missing',
    pattern:
      /GLIBC_\S{1,12}' not found|Playwright does not support \w+ on|cannot open display|\bxvfb\b.{0,40}(?:fail|error|not)|executable doesn't exist|failed to launch (?:chromium|firefox|webkit|chrome|the browser|browser|msedge)|missing (?:a few )?dependencies|error while loading shared libraries|distribution '\w+' is not found|sandboxing failed|playwright install|just installed or updated|missing X server|browserType\.(?:launch|connect)\w*: |Could not find Chrome|DevToolsActivePort file doesn't exist|unable to launch|No usable sandbox|waiting for the WS endpoint|unable to open X display|without having a XServer|playwright\S{0,8} install-deps|^\s{0,20}Missing libraries\b|<launch(?:ing|ed)> |\[pid=\d+\]\[err\]|no such session\b|invalid session id|session not created|not connected to DevTools/im,
    confidence: 0.95,
  },
  {
    id: 'unknown/bare-timeout',
    pattern:
      /^(?:Error: |TimeoutError: )?(?:Test|Worker teardown) timeout of \d+ ?ms exceeded\.?(?: while .{1,120})?$|hook timeout of \d+ms exceeded|timeout of \d+ ?ms exceeded in \S{1,40} hook|while running "\w{1,20}" hook|Exceeded timeout of \d+ ?ms for a (?:hook|test)|fixture "\w{1,80}" timeout of|Tearing down "\w{1,80}" exceeded|waiting .{0,20}for the test suite to run/im,
    confidence: 0.72,
  },
  {
    id: 'unknown/runner',
    pattern:
      /No tests found|did not expect \S{1,60} to be called here|Requiring @playwright\/test second time|two different versions of @playwright\/test|has unknown parameter|duplicate test title|'forbidOnly' option|--forbid-only\b|already (?:has )?been registered as a \{ scope|Can't call test\.\w+\(\)|not found\. Available projects|has been already started|fixtures? (?:is|are) not supported|error: unknown option|Cannot use\(\{|\b\w{0,20}page\.(?:locator|getBy\w+|goto) is not a function|\b(?:page|browser|context|locator|request|playwright|chromium|firefox|webkit|expect|test|describe)\.\w+(?:\.\w+)? is not a function|\b(?:describe|beforeAll|beforeEach) is not (?:a function|defined)|Class extends value undefined|playwright\.config\.\w+: config\.\w+ must|fixture "[^"\n]{1,60}" (?:has|is|was|depends|not)|\b(?:test|describe|it|expect)(?:\.\w{1,30}){0,2}\(\) can(?:not| only)\b|\bfixture '\w{1,60}' not found/i,
    confidence: 0.8,
  },
  {
    id: 'unknown/web-server-exited',
    // Only the server's own output could say why.
    pattern: /Process from config\.webServer (?:was not able to start|exited early)/i,
    confidence: 0.5,
  },
  {
    id: 'unknown/protocol',
    pattern:
      /execution context was destroyed|\bTest ended\b|The operation was canceled\.|\bspawn \S{1,200} (?:ENOENT|EACCES)|\bProtocol error \(|was not bound in the connection/i,
    confidence: 0.72,
  },
]);
