/** Pictures of an observation as addresses that a page can show. Only formats without scripts count. */

const harmless = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const base64 = /^[A-Za-z0-9+/=\s]+$/;

export function picturesOf({ outputs, screenshot }: { outputs: unknown; screenshot: unknown }): string[] {
  const data = (screenshot as { data?: unknown } | null | undefined)?.data;
  const shots = typeof data === 'string' ? [address('image/png', data)] : [];
  const displays = (Array.isArray(outputs) ? outputs : []).map((output: { data?: unknown }) => output.data);
  const drawn = displays.flatMap((media) =>
    Object.entries(typeof media === 'object' && media !== null ? media : {})
      .filter(([type]) => harmless.includes(type))
      .map(([type, content]) => address(type, String(content))),
  );
  return [...shots, ...drawn].filter((found) => found !== undefined);
}

function address(type: string, content: string): string | undefined {
  return base64.test(content) ? `data:${type};base64,${content.replace(/\s/g, '')}` : undefined;
}
