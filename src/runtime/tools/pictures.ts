/** Takes the pictures out of a call's result, so that a model sees them instead of reading base64. */

export interface Picture {
  readonly mediaType: string;
  /** In base64. */
  readonly data: string;
}

export interface WithoutPictures {
  /** The value with a note such as `[image/png, 512 bytes]` in the place of each picture. */
  readonly rest: unknown;
  readonly pictures: readonly Picture[];
  /** Pictures that were too many or too large. */
  readonly leftOut: number;
}

/** How many pictures, and how many bytes in base64 of one and of all, an answer carries. */
const most = { pictures: 8, bytesEach: 5_242_880, bytesInAll: 16_777_216 };
/** Values that lie deeper than this stay as they are. */
const mostLevels = 24;

/** The formats that every model reads, by the base64 of their first bytes. */
const formats: readonly (readonly [start: RegExp, mediaType: string])[] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{9}XRUJQ/, 'image/webp'],
];

export function takePictures(value: unknown): WithoutPictures {
  const found: Picture[] = [];
  let leftOut = 0;
  let bytes = 0;

  function note(data: string): string | undefined {
    const mediaType = formats.find(([start]) => start.test(data))?.[1];
    // An invalid picture would make the model's API refuse the whole conversation.
    if (mediaType === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
    const fits =
      found.length < most.pictures && data.length <= most.bytesEach && bytes + data.length <= most.bytesInAll;
    if (fits) {
      found.push({ mediaType, data });
      bytes += data.length;
    } else {
      leftOut++;
    }
    const size = Buffer.byteLength(data, 'base64');
    return `[${mediaType}, ${size} bytes${fits ? '' : ', left out'}]`;
  }

  function walk(item: unknown, level: number, isMedia: boolean): unknown {
    if (typeof item === 'string') {
      const data = isMedia
        ? item.replaceAll('\n', '')
        : /^data:image\/[\w.+-]+;base64,(.+)$/s.exec(item)?.[1];
      return (data !== undefined && note(data)) || item;
    }
    if (typeof item !== 'object' || item === null || level > mostLevels) return item;
    if (Array.isArray(item)) return item.map((entry) => walk(entry, level + 1, false));
    const entries = Object.entries(item);
    const isPicture = entries.some(([key, entry]) => typeKeys.has(key) && isImage(entry));
    return Object.fromEntries(
      entries.map(([key, entry]) => [
        key,
        walk(entry, level + 1, isImage(key) || (isPicture && dataKeys.has(key))),
      ]),
    );
  }

  return { rest: walk(value, 0, false), pictures: found, leftOut };
}

/** The names under which observations and MCP state the type of a picture, and hold it. */
const typeKeys = new Set(['mediaType', 'mimeType']);
const dataKeys = new Set(['data', 'content', 'blob']);

function isImage(type: unknown): boolean {
  return typeof type === 'string' && /^image\//i.test(type);
}
