/** Starts Chromium inside the cell. It listens on no port: only the holder of its pipes can drive it. */
import { randomBytes } from 'node:crypto';
import { programText } from '../../../base/program-text.js';
import type { LaunchedProcess } from '../../launchers/launcher.js';
import type { PluginCell } from '../plugin.js';
import { removeInside } from '../remove-inside.js';
import type { BrowserOptions } from './browser-options.js';
import { findChromium } from './find-chromium.js';
import { type MessagePipe, openMessagePipe } from './pipe.js';

const script = () =>
  `find_chromium() { ${findChromium}; }\n${programText('start-chromium.sh', import.meta.url)}`;

/** Every page is one process tree with its frames, so that one look sees all of them. */
const flags = [
  '--headless=new',
  '--remote-debugging-pipe',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--no-pings',
  '--password-store=basic',
  '--use-mock-keychain',
  '--hide-scrollbars',
  '--mute-audio',
  '--force-color-profile=srgb',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-back-forward-cache',
  '--disable-background-networking',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-breakpad',
  '--disable-component-update',
  '--disable-crash-reporter',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--disable-hang-monitor',
  '--disable-infobars',
  '--disable-quic',
  '--disable-search-engine-choice-screen',
  '--disable-site-isolation-trials',
  '--disable-sync',
  '--deny-permission-prompts',
  '--disk-cache-size=67108864',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-features=AutofillServerCommunication,DnsOverHttps,HttpsUpgrades,MediaRouter,OptimizationHints,Translate',
];

/** How much of the program's error output to keep, for the message when it cannot start. */
const complaintLength = 2000;

export interface Chromium {
  readonly pipe: MessagePipe;
  readonly exited: LaunchedProcess['exited'];
  complaint(): string;
  /** Ends it, and removes its files. */
  close(): Promise<void>;
}

export async function startChromium(
  cell: PluginCell,
  { program, viewport, allowAddresses }: BrowserOptions,
): Promise<Chromium> {
  const name = `chromium-${randomBytes(6).toString('hex')}`;
  const { pid, stdin, stdout, stderr, exited } = await cell.spawn([
    'sh',
    '-c',
    script(),
    'sh',
    cell.exchange.inside,
    name,
    program ?? '',
    ...flags,
    `--window-size=${viewport.width},${viewport.height}`,
    ...(allowAddresses.length === 0 ? [`--host-resolver-rules=${privateRules()}`] : []),
    'about:blank',
  ]);
  let complaint = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-complaintLength);
  });
  stderr.on('error', () => {});
  const pipe = openMessagePipe(stdin, stdout);
  let closing: Promise<void> | undefined;
  return {
    pipe,
    exited,
    complaint: () => complaint.trim(),
    close() {
      closing ??= (async () => {
        // Chromium ends when its pipes close; kill it if it is stuck.
        pipe.close();
        const timer = setTimeout(() => cell.signal([pid], 'SIGKILL'), 3000);
        await exited;
        clearTimeout(timer);
        stderr.destroy();
        await removeInside(cell, name);
      })();
      return closing;
    },
  };
}

/** Addresses of private networks lead nowhere, also for requests that we cannot intercept, such as WebSockets. */
function privateRules(): string {
  const ranges = ['10.*', '192.168.*', '169.254.*', '100.64.*'];
  for (let second = 16; second < 32; second++) ranges.push(`172.${second}.*`);
  return ranges.map((range) => `MAP ${range} ~NOTFOUND`).join(',');
}
