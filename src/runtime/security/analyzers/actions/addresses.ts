/** Addresses that no browser or fetching program should open without a question. */
import { hostsOf } from './hosts.js';

type Found = { risk: 'high' | 'medium'; reason: string } | undefined;

const metadata =
  /^(?:169\.254\.169\.254|169\.254\.170\.2|metadata(?:\.google\.internal)?|100\.100\.100\.200|fd00:ec2::254|metadata\.azure\.com|instance-data)$/;

const dropboxes =
  /(?:^|\/\/|\.|@)(?:transfer\.sh|file\.io|0x0\.st|termbin\.com|pastebin\.com|paste\.rs|ix\.io|webhook\.site|requestbin\.\w+|pipedream\.net|burpcollaborator\.net|oastify\.com|interact\.sh|oast\.\w+|ngrok(?:-free)?\.(?:io|app|dev)|requestcatcher\.com|anonfiles\.com|gofile\.io|bashupload\.com|temp\.sh|hookbin\.com|hookb\.in|beeceptor\.com|trycloudflare\.com|serveo\.net|localhost\.run|loca\.lt|catbox\.moe|uguu\.se|tmpfiles\.org|pixeldrain\.com|wetransfer\.com|mega\.nz|paste\.ee|hastebin\.com|dpaste\.(?:com|org)|ghostbin\.\w+|rentry\.co|sprunge\.us|clbin\.com|oshi\.at|filebin\.net|keep\.sh|x0\.at|envs\.sh|ttm\.sh|dnslog\.cn|ceye\.io|canarytokens\.\w+|requestinspector\.com|put\.re|filetransfer\.io|ufile\.io|paste\.c-net\.org|pastie\.\w+|api\.telegram\.org\/bot|(?:discord|discordapp)\.com\/api\/webhooks)/i;

/** True for a service that takes data from anybody and does not ask who owns it. */
export function isDropbox(address: string): boolean {
  return dropboxes.test(address);
}

export function judgeAddress(address: string): Found {
  const text = address.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'file' || scheme === 'view-source')
    return { risk: 'high', reason: `Opens a file of the machine as a page: ${text}` };
  if (scheme === 'javascript' || scheme === 'chrome' || scheme === 'gopher' || scheme === 'dict')
    return {
      risk: 'high',
      reason: `Opens an address of a kind that runs code or reaches other services: ${scheme}:`,
    };
  if (scheme === 'data' || scheme === 'about' || scheme === 'blob') return undefined;
  const hosts = hostsOf(text).map(({ name }) => name);
  const asked = hosts.find((host) => metadata.test(host));
  if (asked !== undefined)
    return {
      risk: 'high',
      reason: `Asks the metadata service of the cloud, which gives out credentials: ${asked}`,
    };
  const near = hosts.find(isPrivate);
  return near === undefined ? undefined : { risk: 'medium', reason: `Reaches a private address: ${near}` };
}

function isPrivate(address: string): boolean {
  if (/^(?:localhost|.*\.localhost|.*\.internal|.*\.local)$/.test(address)) return true;
  if (
    /^(?:127|10|0)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./.test(
      address,
    )
  )
    return true;
  return /^(?:::1?$|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/.test(address);
}
