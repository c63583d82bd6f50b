import { certain, likely } from '../../model/diagnosis.js';
import { createRules } from '../rule.js';

/** Neither the app nor its tests failed, but the browser, the runner or the machine. */
export const unknownRules = createRules('unknown', {
  'unknown/out-of-memory': [
    certain,
    /exit(?:ed)?(?: with)?(?: code)?:? 137\b|heap out of memory|near heap limit|ERR_WORKER_OUT_OF_MEMORY|OOMKilled|Cannot allocate memory|out of memory\b|Last few GCs|^Killed$|: {1,4}\d{1,7} Killed\b|\bMark-(?:compact|sweep)\b.{0,40}[\d)] MB/im,
  ],
  'unknown/machine': [
    certain,
    /\bENOSPC\b|\bENOMEM\b|\bEMFILE\b|no space left|disk full|resource temporarily unavailable|System limit for number|docker daemon|container runtime|response from daemon|unknown (?:shorthand flag|command|docker command):? .{0,60}|dependency failed to start: container|No such container/i,
  ],
  'unknown/browser-missing': [
    certain,
    /GLIBC_\S{1,12}' not found|Playwright does not support \w+ on|cannot open display|executable doesn't exist|failed to launch (?:chromium|firefox|webkit|chrome|the browser|browser)|missing (?:a few )?dependencies|error while loading shared libraries|distribution '\w+' is not found|sandboxing failed|playwright install|just installed or updated|missing X server|without having a XServer|browserType\.(?:launch|connect)\w*: |Could not find Chrome|No usable sandbox|^\s{0,20}Missing libraries\b|<launch(?:ing|ed)> |\[pid=\d+\]\[err\]|no such session\b|session not created/im,
  ],
  'unknown/crash': [
    certain,
    /exit(?:ed)?(?: with)?(?: code)?:? 13[2459]\b|lost communication with the server|(?:page|target) crashed|worker (?:process )?exited (?:unexpectedly|before)|Playwright connection closed|(?:page|context|browser)(?:,? (?:context )?or browser)? has been closed|Target closed|browser (?:has )?(?:been )?disconnected|browser (?:was |has been )?closed|\bSIG(?:SEGV|ABRT|KILL|TRAP|BUS|ILL)\b|browser (?:has )?crashed|Session closed/i,
  ],
  'unknown/runner': [
    likely,
    /No tests found|did not expect \S{1,60} to be called here|Requiring @playwright\/test second time|two different versions of @playwright\/test|has unknown parameter|duplicate test title|forbidOnly|--forbid-only\b|already (?:has )?been registered as a \{ scope|Can't call test\.\w+\(\)|not found\. Available projects|error: unknown option|\b(?:\w{0,20}page|browser|context|locator|request|playwright|chromium|firefox|webkit|expect|test|describe)\.\w+(?:\.\w+)? is not a function|\b(?:describe|beforeAll|beforeEach) is not (?:a function|defined)|Class extends value undefined|playwright\.config\.\w+: config\.\w+ must|fixture "[^"\n]{1,60}" (?:has|is|was|depends|not)|\b(?:test|describe|it|expect)(?:\.\w{1,30}){0,2}\(\) can(?:not| only)\b|\bfixture '\w{1,60}' not found|execution context was destroyed|\bTest ended\b|The operation was canceled\.|\bspawn \S{1,200} (?:ENOENT|EACCES)|\bProtocol error \(|was not bound in the connection/i,
  ],
  'unknown/bare-timeout': [
    likely,
    /^(?:Error: |TimeoutError: )?(?:Test|Worker teardown) timeout of \d+ ?ms exceeded\.?(?: while .{1,120})?$|hook timeout of \d+ms exceeded|Exceeded timeout of \d+ ?ms for a (?:hook|test)|timeout of \d+ ?ms exceeded in \S{1,40} hook|while running "\w{1,20}" hook|fixture "\w{1,80}" timeout of|Tearing down "\w{1,80}" exceeded/im,
  ],
});
