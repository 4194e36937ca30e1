/** The program of a thread that matches lines. It takes a `MatchRequest` and answers with a `MatchReply` (`regex-worker.ts`). */
'use strict';
const { parentPort } = require('node:worker_threads');
const longest = 2000;
const lead = 200;
const mostLines = 400000;

parentPort.on('message', ({ source, flags, context, limit, contents }) => {
  try {
    const regex = new RegExp(source, flags);
    const room = Math.floor(mostLines / (1 + 2 * context));
    const wanted = Math.min(limit, room);
    let left = wanted;
    const matches = contents.map((content) => {
      const found = left > 0 ? search(decode(content), regex, context, left) : [];
      left -= found.length;
      return found;
    });
    parentPort.postMessage({ matches, isFull: left === 0 && room < limit });
  } catch (error) {
    parentPort.postMessage({ error: error.message });
  }
});

function decode(bytes) {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return bytes.includes(0) ? '' : new TextDecoder().decode(bytes);
}

function search(text, regex, context, limit) {
  const found = [];
  let line = 0;
  for (let start = 0; start < text.length && found.length < limit; ) {
    const end = lineEnd(text, start);
    const content = lineAt(text, start, end);
    line++;
    const match = regex.exec(content);
    if (match !== null) {
      found.push({
        line,
        text: clip(content, match.index),
        before: linesBefore(text, start, context),
        after: linesAfter(text, end + 1, context),
      });
    }
    start = end + 1;
  }
  return found;
}

function lineEnd(text, start) {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}

function lineAt(text, start, end) {
  return text.slice(start, end > start && text[end - 1] === '\r' ? end - 1 : end);
}

function linesBefore(text, start, count) {
  const lines = [];
  for (let end = start - 1; end >= 0 && lines.length < count; ) {
    const from = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    lines.unshift(clip(lineAt(text, from, end), 0));
    end = from - 1;
  }
  return lines;
}

function linesAfter(text, start, count) {
  const lines = [];
  for (let from = start; from < text.length && lines.length < count; ) {
    const end = lineEnd(text, from);
    lines.push(clip(lineAt(text, from, end), 0));
    from = end + 1;
  }
  return lines;
}

function clip(line, index) {
  if (line.length <= longest) return line;
  const from = Math.max(0, Math.min(index - lead, line.length - longest));
  const to = from + longest;
  return (from > 0 ? '…' : '') + line.slice(from, to) + (to < line.length ? '…' : '');
}
