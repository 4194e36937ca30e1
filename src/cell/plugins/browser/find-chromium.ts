/**
 * A command that names the Chromium of a cell. Debian's own start script reads settings that a cell need not have, so
 * the program behind it comes first.
 */
export const findChromium =
  'command -v /usr/lib/chromium/chromium || command -v chromium || command -v chromium-browser || command -v google-chrome';
